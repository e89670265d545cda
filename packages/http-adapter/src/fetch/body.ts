import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { HttpBody } from "../http-message.js";
import { badRequest, payloadTooLarge, type BadRequest, type PayloadTooLarge } from "../refusal.js";

type Read = Result<HttpBody, PayloadTooLarge | BadRequest>;

/** Reads the body of a WHATWG request, of at most `limit` bytes; the rest of a longer one is refused. */
export function readFetchBody(
  request: Request,
  limit: number,
): ResultAsync<HttpBody, PayloadTooLarge | BadRequest> {
  return new ResultAsync(collect(request, limit));
}

async function collect(request: Request, limit: number): Promise<Read> {
  if (request.bodyUsed) return err(badRequest("The host has read the body before the pet store."));
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunksOf(request)) {
      chunks.push(chunk);
      length += chunk.length;
      // Leaving the loop cancels the stream.
      if (length > limit) return err(payloadTooLarge(limit));
    }
  } catch {
    return err(badRequest("The body ended early."));
  }
  return ok({ kind: "bytes", bytes: Buffer.concat(chunks, length) });
}

function chunksOf({ body }: Request): AsyncIterable<Uint8Array> | readonly Uint8Array[] {
  return body ?? [];
}
