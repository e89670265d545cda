import type { IncomingMessage } from "node:http";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import { collectBytes } from "../collected-bytes.js";
import type { HttpBody } from "../http-message.js";
import { badRequest, payloadTooLarge, requestTimeout, type UnreadableMessage } from "../refusal.js";
import type { Interruption } from "./interruption.js";

type Read = Result<HttpBody, UnreadableMessage>;

/**
 * Reads the body of a request, of at most `limit` bytes and for at most `seconds`; the rest of a
 * longer or slower one is left unread. Where a body parser of the host was first, what it made of
 * the body is the body.
 */
export function readNodeBody(
  request: IncomingMessage,
  limit: number,
  seconds: number,
  interruption: Interruption,
  parsed: unknown,
): ResultAsync<HttpBody, UnreadableMessage> {
  if (request.readableDidRead) return settled(readParsed(parsed, limit));
  // A parser of the host has found it empty.
  if (request.complete && request.readableEnded) return settled(ok(EMPTY));
  const reason = interruption.reason();
  if (reason !== undefined) return settled(err(reason));
  if (request.destroyed) return settled(err(ENDED_EARLY));
  if (request.complete && request.readableLength > 0) return settled(readWhole(request, limit));
  return new ResultAsync(
    new Promise((resolve) => {
      collect(request, limit, seconds, interruption, resolve);
    }),
  );
}

/**
 * What a body parser of the host has left on its request, if one was there: the text or bytes in
 * `rawBody`, where it keeps them, since they are exact; else whatever it made of them in `body`.
 */
export function bodyLeftBy(request: object, onError: (cause: unknown) => void): unknown {
  try {
    const raw: unknown = "rawBody" in request ? request.rawBody : undefined;
    if (typeof raw === "string") return Buffer.from(raw);
    if (raw instanceof Uint8Array) return raw;
    return "body" in request ? request.body : undefined;
  } catch (cause) {
    onError(cause);
    return undefined;
  }
}

const EMPTY: HttpBody = Object.freeze({ kind: "bytes", bytes: new Uint8Array() });
const ENDED_EARLY = Object.freeze(badRequest("The body ended early."));
const GONE = Object.freeze(
  badRequest("The host has read the body: mount the pet store before the body parser."),
);

function settled(read: Read): ResultAsync<HttpBody, UnreadableMessage> {
  return new ResultAsync(Promise.resolve(read));
}

/**
 * What has arrived to its end, as short bodies have, needs no listeners and no deadline. Where nothing
 * waits to be read, a host's own request may be about to get it from elsewhere.
 */
function readWhole(request: IncomingMessage, limit: number): Read {
  if (request.readableLength > limit) return err(payloadTooLarge(limit));
  const chunk: unknown = request.read();
  return ok(chunk === null ? EMPTY : { kind: "bytes", bytes: toBytes(chunk, request) });
}

/** A chunk of a body: text, where the host has set an encoding. */
function toBytes(chunk: unknown, { readableEncoding }: IncomingMessage): Uint8Array {
  return chunk instanceof Uint8Array
    ? chunk
    : Buffer.from(String(chunk), readableEncoding ?? undefined);
}

function readParsed(body: unknown, limit: number): Read {
  if (body === undefined) return err(GONE);
  return body instanceof Uint8Array
    ? checkLength(body, limit)
    : ok({ kind: "parsed", value: body });
}

function collect(
  request: IncomingMessage,
  limit: number,
  seconds: number,
  interruption: Interruption,
  settle: (read: Read) => void,
): void {
  const collected = collectBytes();
  const deadline = setTimeout(() => finish(err(requestTimeout())), seconds * 1_000);

  function take(chunk: unknown): void {
    const bytes = toBytes(chunk, request);
    if (collected.length + bytes.length > limit) finish(err(payloadTooLarge(limit)));
    else collected.add(bytes);
  }
  function end(): void {
    finish(ok({ kind: "bytes", bytes: collected.bytes() }));
  }
  function close(): void {
    finish(err(ENDED_EARLY));
  }
  function finish(read: Read): void {
    clearTimeout(deadline);
    request.off("data", take).off("end", end).off("close", close).pause();
    settle(read);
  }
  interruption.listen((reason) => finish(err(reason)));
  // Without a listener for it, Node emits no "error" when the client goes away: only "close".
  request.on("data", take).on("end", end).on("close", close);
  // A host may have paused it: then no listener sets it flowing.
  request.resume();
}

function checkLength(bytes: Uint8Array, limit: number): Read {
  return bytes.length > limit ? err(payloadTooLarge(limit)) : ok({ kind: "bytes", bytes });
}
