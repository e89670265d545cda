import type { IncomingMessage, ServerResponse } from "node:http";

/** What the middleware uses of a Koa context; Koa itself is not needed. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The target as the client sent it; `req.url` may have lost the prefix of a mount. */
  readonly originalUrl: string;
  /** Where Koa's body parsers leave `body` and `rawBody`. */
  readonly request: object;
  /** Off: Koa leaves the response alone. */
  respond?: boolean | undefined;
}
