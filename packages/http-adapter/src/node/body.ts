import type { IncomingMessage } from "node:http";
import { err, ok, type Result } from "neverthrow";
import { collectBytes } from "../bytes.js";
import type { HttpBody } from "../http-message.js";
import { badRequest, payloadTooLarge, requestTimeout, type UnreadableMessage } from "../refusal.js";
import type { Connection } from "./connection.js";

type Read = Result<HttpBody, UnreadableMessage>;

/** The bounds of a body. */
export interface BodyLimits {
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * Reads the body of a request; the rest of a longer or slower one is left unread. If a body parser
 * of the host was first, the body is what it left on the request.
 */
export async function readNodeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  connection: Connection,
): Promise<Read> {
  if (request.readableDidRead) return readParsed(bodyLeftOn(request), limits.bytes);
  // A parser of the host has found it empty.
  if (request.complete && request.readableEnded) return ok(EMPTY);
  if (!request.complete && connection.interruption !== undefined) {
    return err(connection.interruption);
  }
  if (request.destroyed) return err(ENDED_EARLY);
  if (request.complete && request.readableLength > 0) return readWhole(request, limits.bytes);
  return new Promise((resolve) => {
    collect(request, limits, connection, resolve);
  });
}

const EMPTY: HttpBody = Object.freeze({ kind: "bytes", bytes: new Uint8Array() });
const ENDED_EARLY = Object.freeze(badRequest("The body ended early."));
const GONE = Object.freeze(
  badRequest("The host has read the body: mount the pet store before the body parser."),
);

/** The text or bytes in `rawBody`, since they are exact; else the parsed value in `body`. */
function bodyLeftOn(request: object): unknown {
  const raw: unknown = "rawBody" in request ? request.rawBody : undefined;
  if (typeof raw === "string") return Buffer.from(raw);
  if (raw instanceof Uint8Array) return raw;
  return "body" in request ? request.body : undefined;
}

function readParsed(body: unknown, limit: number): Read {
  if (body === undefined) return err(GONE);
  if (!(body instanceof Uint8Array)) return ok({ kind: "parsed", value: body });
  return body.length > limit ? err(payloadTooLarge(limit)) : ok({ kind: "bytes", bytes: body });
}

/** A body that has arrived completely, as short ones have, needs no listeners and no deadline. */
function readWhole(request: IncomingMessage, limit: number): Read {
  if (request.readableLength > limit) return err(payloadTooLarge(limit));
  const chunk: unknown = request.read();
  return ok(chunk === null ? EMPTY : { kind: "bytes", bytes: toBytes(chunk, request) });
}

/** A chunk of a body; it is text if the host has set an encoding. */
function toBytes(chunk: unknown, { readableEncoding }: IncomingMessage): Uint8Array {
  return chunk instanceof Uint8Array
    ? chunk
    : Buffer.from(String(chunk), readableEncoding ?? undefined);
}

function collect(
  request: IncomingMessage,
  limits: BodyLimits,
  connection: Connection,
  resolve: (read: Read) => void,
): void {
  const collected = collectBytes(limits.bytes);
  const deadline = setTimeout(() => finish(err(requestTimeout())), limits.seconds * 1_000);

  function take(chunk: unknown): void {
    if (!collected.add(toBytes(chunk, request))) finish(err(payloadTooLarge(limits.bytes)));
  }
  function end(): void {
    finish(ok({ kind: "bytes", bytes: collected.all() }));
  }
  function close(): void {
    finish(err(ENDED_EARLY));
  }
  function finish(read: Read): void {
    clearTimeout(deadline);
    connection.onInterruption = undefined;
    request.off("data", take).off("end", end).off("close", close).pause();
    resolve(read);
  }
  connection.onInterruption = (reason) => {
    if (!request.complete) finish(err(reason));
  };
  // Without a listener for it, Node emits no "error" when the client goes away: only "close".
  request.on("data", take).on("end", end).on("close", close);
  // A host may have paused it: then no listener sets it flowing.
  request.resume();
}
