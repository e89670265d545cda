import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { parseOptions } from "../options.js";
import { createRunInTurn } from "./connection.js";
import { refuseHttp2, socketAddress, type NodeOptions } from "./handler.js";
import { createResponder, locateRequest } from "./response.js";

/** The part of a Fastify instance that the plugin uses; Fastify itself is not imported. */
interface FastifyApp<Request extends FastifyRequest> {
  readonly prefix: string;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (request: Request, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  setErrorHandler(
    handler: (error: Error & { code?: string }, request: Request, reply: FastifyReply) => unknown,
  ): unknown;
  all(path: string, handler: (request: Request, reply: FastifyReply) => unknown): unknown;
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  /** Makes Fastify leave the response to the plugin. */
  hijack(): unknown;
  callNotFound(): unknown;
}

/**
 * A Fastify plugin: `app.register(petStorePlugin, { store })`. It responds to requests below the base path, which comes
 * after the prefix of the registration. All hooks before a handler run, those of routes too, and `onResponse`. The
 * response has the headers that they set, and `app.inject()` works. Fastify leaves the bodies to the store. Requests that
 * Fastify itself refuses (a target that cannot be decoded, an unknown method) get Fastify's response.
 * @returns a promise that rejects with a TypeError that names the option, if one is wrong. Fastify then does not start.
 */
export function petStorePlugin<Request extends FastifyRequest = FastifyRequest>(
  app: FastifyApp<Request>,
  { store, ...options }: NodeOptions<Request> & { readonly store: PetStore },
): Promise<void> {
  return new Promise((resolve) => {
    // Fastify also passes its own options to a plugin.
    const own = { ...options };
    for (const name of ["prefix", "logLevel", "logSerializers"]) Reflect.deleteProperty(own, name);
    const settings = parseOptions(store, own);
    const basePath = app.prefix.replace(/\/$/, "") + settings.basePath;
    const responder = createResponder(store, { ...settings, basePath });
    const runInTurn = createRunInTurn((exchange) => responder.respond(exchange));
    const { clientAddress = ({ raw }: Request) => socketAddress(raw) } = options;

    const respond = (request: Request, reply: FastifyReply): unknown => {
      const { raw } = request;
      refuseHttp2(raw);
      const target = locateRequest(basePath, raw);
      // Fastify's router may decode a target to a path below the base path that is not one.
      if (target === undefined) return reply.callNotFound();
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value);
      const addressOf = () => clientAddress(request);
      runInTurn({ request: raw, response: reply.raw, clientAddress: addressOf, target });
      return undefined;
    };
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    // Fastify refuses a broken Content-Type by itself, after the hooks that run before a body.
    app.setErrorHandler((error, request, reply) => {
      if (error.code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") throw error;
      return respond(request, reply);
    });
    if (basePath !== "") app.all(settings.basePath, respond);
    app.all(`${settings.basePath}/*`, respond);
    resolve();
  });
}
