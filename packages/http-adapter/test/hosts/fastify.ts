import { petStorePlugin } from "@petstore/http-adapter";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Host } from "./host.js";

/** A Fastify application with the store as a plugin. */
export function createHost(
  prefix: string,
  basePath: string,
  decorate: (app: FastifyInstance) => void = () => undefined,
): Host {
  return {
    name: `Fastify, prefix "${prefix}"`,
    basePath: prefix + basePath,
    start: async (store, behindProxy) => {
      const app = fastify({ trustProxy: behindProxy });
      decorate(app);
      const origin = behindProxy ? ({ ip }: FastifyRequest) => ip : undefined;
      if (store !== undefined) {
        await app.register(petStorePlugin, { prefix, store, basePath, origin });
      }
      app.get("/hello", () => "hello");
      app.post("/echo", ({ body }) => body);
      app.get("/boom", () => {
        throw new Error("the host's own");
      });
      await app.listen({ port: 0, host: "127.0.0.1" });
      return app.server;
    },
  };
}
