import fastify from "fastify";
import { createPetStore } from "@petstore/core";
import { petStorePlugin } from "@petstore/http-adapter";

const store = createPetStore();
const app = fastify();
await app.register(petStorePlugin, { prefix: "/api", store }); // its clients see /api/v1
app.get("/", () => "The host's own page.");
await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" });

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
