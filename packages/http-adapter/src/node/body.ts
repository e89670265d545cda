import type { IncomingMessage } from "node:http";
import { err, ok } from "neverthrow";
import { collectBytes } from "../body.js";
import { badRequest, payloadTooLarge, requestTimeout } from "../error.js";
import type { BodyResult, HttpBody } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import type { Connection } from "./connection.js";

type BodyLimits = Pick<HttpSettings, "maxBodyBytes" | "maxBodySeconds">;

/**
 * Reads the body of a request, and leaves the rest of a longer or slower one unread. If a body parser
 * of the host has read it already, the body is the parser's result on the request.
 */
export async function readNodeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  connection: Connection,
): Promise<BodyResult> {
  if (request.readableDidRead) return readParsed(bodyLeftOn(request), limits.maxBodyBytes);
  // A body parser of the host has found the body empty.
  if (request.complete && request.readableEnded) return ok(EMPTY);
  if (!request.complete && connection.interruption !== undefined) {
    return err(connection.interruption);
  }
  if (request.destroyed) return err(ENDED_EARLY);
  if (request.complete && request.readableLength > 0)
    return readWhole(request, limits.maxBodyBytes);
  return new Promise((resolve) => {
    collect(request, limits, connection, resolve);
  });
}

const EMPTY: HttpBody = Object.freeze({ kind: "bytes", bytes: new Uint8Array() });
const ENDED_EARLY = Object.freeze(badRequest("The body ended early."));
const GONE = Object.freeze(
  badRequest("The host has read the body: mount the pet store before the body parser."),
);

/** Returns `rawBody` if it is text or bytes, since they are exact; otherwise `body`, parsed. */
function bodyLeftOn(request: object): unknown {
  const raw: unknown = "rawBody" in request ? request.rawBody : undefined;
  if (typeof raw === "string") return Buffer.from(raw);
  if (raw instanceof Uint8Array) return raw;
  return "body" in request ? request.body : undefined;
}

function readParsed(body: unknown, limit: number): BodyResult {
  if (body === undefined) return err(GONE);
  if (!(body instanceof Uint8Array)) return ok({ kind: "parsed", value: body });
  return body.length > limit ? err(payloadTooLarge(limit)) : ok({ kind: "bytes", bytes: body });
}

/** Reads a body that has arrived completely: without listeners and without a deadline. */
function readWhole(request: IncomingMessage, limit: number): BodyResult {
  if (request.readableLength > limit) return err(payloadTooLarge(limit));
  const chunk: unknown = request.read();
  return ok(chunk === null ? EMPTY : { kind: "bytes", bytes: toBytes(chunk, request) });
}

/** Returns the bytes of a chunk, which is text if the host has set an encoding. */
function toBytes(chunk: unknown, { readableEncoding }: IncomingMessage): Uint8Array {
  return chunk instanceof Uint8Array
    ? chunk
    : Buffer.from(String(chunk), readableEncoding ?? undefined);
}

function collect(
  request: IncomingMessage,
  limits: BodyLimits,
  connection: Connection,
  resolve: (result: BodyResult) => void,
): void {
  const collected = collectBytes(limits.maxBodyBytes);
  const deadline = setTimeout(() => finish(err(requestTimeout())), limits.maxBodySeconds * 1_000);

  function take(chunk: unknown): void {
    if (!collected.add(toBytes(chunk, request))) finish(err(payloadTooLarge(limits.maxBodyBytes)));
  }
  function end(): void {
    finish(ok({ kind: "bytes", bytes: collected.all() }));
  }
  function close(): void {
    finish(err(ENDED_EARLY));
  }
  function finish(result: BodyResult): void {
    clearTimeout(deadline);
    connection.onInterruption = undefined;
    request.off("data", take).off("end", end).off("close", close).pause();
    resolve(result);
  }
  connection.onInterruption = (error) => {
    if (!request.complete) finish(err(error));
  };
  // Without a listener for "error", Node emits only "close" when the client disconnects.
  request.on("data", take).on("end", end).on("close", close);
  // If the host has paused the request, adding a listener does not resume it.
  request.resume();
}
