import { err, ok, type Result } from "neverthrow";
import { startWait } from "./clock.js";
import { timedOut, unexpectedResponse, unreachable, type TransportError } from "./errors.js";
import type { Lifetime } from "./lifetime.js";
import type { Settings } from "./options.js";
import { readHead, type Head } from "./wire/head.js";

export interface Attempt {
  /** The status and the headers, also if the body did not arrive; `undefined` without a response. */
  readonly head: Head | undefined;
  readonly body: Result<string, TransportError>;
}

/** Cancels both when the attempt times out or the call ends. Follows no redirect: the key is for this server. */
export async function sendOnce(
  settings: Settings,
  url: string,
  init: RequestInit,
  lifetime: Lifetime,
): Promise<Attempt> {
  // A browser's `fetch` must not be called as a method of another object.
  const { fetch, clock, attemptSeconds } = settings;
  const controller = new AbortController();
  let head: Head | undefined;

  async function sendAndRead(): Promise<Result<string, TransportError>> {
    const { signal } = controller;
    try {
      const sent: RequestInit = { ...init, redirect: "manual", signal };
      // A `fetch` that is not the platform's knows another `Request`. It takes this one for a text: its URL.
      const request = Object.assign(new Request(url, sent), { toString: () => url });
      const response = await fetch(request, sent);
      head = readHead(response, clock.now());
      return await readBody(response, head, settings.maxResponseBytes, signal);
    } catch (cause) {
      return err(unreachable(cause));
    }
  }

  const { passed, stop } = startWait(clock, attemptSeconds * 1_000);
  const late = passed.then(() => err(timedOut("attempt", attemptSeconds)));
  const body = await Promise.race([sendAndRead(), late, lifetime.ended]);
  stop();
  controller.abort();
  return { head, body };
}

/** Reads a body of at most `limit` bytes of UTF-8. Cancels what it does not read. */
async function readBody(
  { body }: Response,
  { status, requestId }: Head,
  limit: number,
  signal: AbortSignal,
): Promise<Result<string, TransportError>> {
  if (body === null) return ok("");
  // The body of node-fetch is a stream of Node.
  const stream = "getReader" in body ? body : ReadableStream.from<Uint8Array>(body);
  const reader: ReadableStreamDefaultReader<Uint8Array> = stream.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);

  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      cancel();
      return err(unexpectedResponse(`It is longer than ${limit} bytes.`, status, requestId));
    }
    chunks.push(value);
  }
  const text = decodeUtf8(chunks);
  return text === undefined
    ? err(unexpectedResponse("It is not UTF-8.", status, requestId))
    : ok(text);
}

function decodeUtf8(chunks: readonly Uint8Array[]): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return (
      chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode()
    );
  } catch {
    return undefined;
  }
}
