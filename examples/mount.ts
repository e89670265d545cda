import { createServer } from "node:http";
import { createPetStore } from "@petstore/core";
import { mount } from "@petstore/http-adapter";

const store = createPetStore();
const server = createServer((_, response) => response.end("The host's own page."));
mount(server, store); // takes what is under /v1 and leaves the rest
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
