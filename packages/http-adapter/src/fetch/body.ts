import { err, ok, ResultAsync, type Result } from "neverthrow";
import { collectBytes } from "../collected-bytes.js";
import type { HttpBody } from "../http-message.js";
import { badRequest, payloadTooLarge, requestTimeout, type UnreadableMessage } from "../refusal.js";

type Read = Result<HttpBody, UnreadableMessage>;

/**
 * Reads the body of a WHATWG request, of at most `limit` bytes and for at most `seconds`; the rest
 * of a longer or slower one is refused.
 */
export function readFetchBody(
  request: Request,
  limit: number,
  seconds: number,
): ResultAsync<HttpBody, UnreadableMessage> {
  return new ResultAsync(read(request, limit, seconds));
}

async function read(request: Request, limit: number, seconds: number): Promise<Read> {
  if (request.bodyUsed || request.body?.locked)
    return err(badRequest("The host has read the body before the pet store."));
  if (request.body === null) return ok({ kind: "bytes", bytes: new Uint8Array() });
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  let giveUp: () => void = () => undefined;
  const late = new Promise<Read>((resolve) => {
    giveUp = () => resolve(err(requestTimeout()));
  });
  const deadline = setTimeout(giveUp, seconds * 1_000);
  try {
    return await Promise.race([collect(reader, limit), late]);
  } catch {
    return err(badRequest("The body ended early."));
  } finally {
    clearTimeout(deadline);
    cancel(reader);
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Read> {
  const collected = collectBytes();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ok({ kind: "bytes", bytes: collected.bytes() });
    if (collected.length + value.length > limit) return err(payloadTooLarge(limit));
    collected.add(value);
  }
}

/** Tells the source that no more is wanted, if there is more; it may fail at that, and nobody minds. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}
