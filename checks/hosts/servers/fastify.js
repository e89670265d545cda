import cors from "@fastify/cors";
import rateLimit from "@fastify/rate-limit";
import { petStorePlugin } from "@petstore/http-adapter";
import fastify from "fastify";
import { openStore } from "./store.js";

const application = fastify();
await application.register(cors);
await application.register(rateLimit, { max: 10_000 });
await application.register(petStorePlugin, { store: await openStore() });
await application.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
