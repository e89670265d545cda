import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeServer } from "../node/mount.js";

/** What the plugin uses of a Fastify instance; Fastify itself is not needed. */
export interface FastifyApp<Request extends FastifyRequest> {
  readonly server: NodeServer;
  /** What the plugins around this one have put before every path. */
  readonly prefix: string;
  readonly supportedMethods: readonly string[];
  addHook(name: "onRequest", hook: FastifyHook<Request>): unknown;
  addHook(name: "onClose", hook: (app: unknown, done: () => void) => void): unknown;
  all(path: string, handler: (request: Request, reply: FastifyReply) => void): unknown;
}

/** Runs before Fastify reads a body; without a call of `done` Fastify does no more. */
export type FastifyHook<Request extends FastifyRequest> = (
  request: Request,
  reply: FastifyReply,
  done: () => void,
) => void;

/** What the plugin uses of a Fastify request. */
export interface FastifyRequest {
  readonly raw: IncomingMessage;
}

/** What the plugin uses of a Fastify reply. */
export interface FastifyReply {
  readonly raw: ServerResponse;
  /** The headers that the host's hooks have set. */
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  /** Fastify leaves the response alone. */
  hijack(): unknown;
  /** Answers as the host does when nothing is at a path. */
  callNotFound(): unknown;
}
