import type { IncomingMessage } from "node:http";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { HttpBody } from "../http-message.js";
import { badRequest, payloadTooLarge, type BadRequest, type PayloadTooLarge } from "../refusal.js";

type Read = Result<HttpBody, PayloadTooLarge | BadRequest>;

/**
 * Reads the body of a request, of at most `limit` bytes; the rest of a longer one is left unread.
 * Where a body parser of the host was first, its `request.body` is the body.
 */
export function readNodeBody(
  request: IncomingMessage,
  limit: number,
): ResultAsync<HttpBody, PayloadTooLarge | BadRequest> {
  if (request.readableDidRead) return new ResultAsync(Promise.resolve(readParsed(request, limit)));
  if (request.destroyed) return new ResultAsync(Promise.resolve(err(ENDED_EARLY)));
  return new ResultAsync(
    new Promise((resolve) => {
      collect(request, limit, resolve);
    }),
  );
}

const ENDED_EARLY = Object.freeze(badRequest("The body ended early."));
const GONE = Object.freeze(
  badRequest("The host has read the body: mount the pet store before the body parser."),
);

function readParsed(request: IncomingMessage, limit: number): Read {
  const body: unknown = "body" in request ? request.body : undefined;
  if (body === undefined) return err(GONE);
  return body instanceof Uint8Array
    ? checkLength(body, limit)
    : ok({ kind: "parsed", value: body });
}

function collect(request: IncomingMessage, limit: number, settle: (read: Read) => void): void {
  const chunks: Uint8Array[] = [];
  let length = 0;

  function take(chunk: Uint8Array): void {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) finish(err(payloadTooLarge(limit)));
  }
  function end(): void {
    finish(ok({ kind: "bytes", bytes: Buffer.concat(chunks, length) }));
  }
  function close(): void {
    finish(err(ENDED_EARLY));
  }
  function finish(read: Read): void {
    request.off("data", take).off("end", end).off("close", close).pause();
    settle(read);
  }
  // Without a listener for it, Node emits no "error" when the client goes away: only "close".
  request.on("data", take).on("end", end).on("close", close);
}

function checkLength(bytes: Uint8Array, limit: number): Read {
  return bytes.length > limit ? err(payloadTooLarge(limit)) : ok({ kind: "bytes", bytes });
}
