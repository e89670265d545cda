import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createPetStore } from "@petstore/core";
import { mount } from "@petstore/http-adapter";

const store = createPetStore();
const server = createServer(
  {
    key: readFileSync(process.env["TLS_KEY"] ?? "key.pem"),
    cert: readFileSync(process.env["TLS_CERT"] ?? "cert.pem"),
  },
  (_, response) => response.end("The host's own page."),
);
mount(server, store);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
