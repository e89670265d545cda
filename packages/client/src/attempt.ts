import { err, fromThrowable, ok, type Result } from "neverthrow";
import { startWait } from "./clock.js";
import { timedOut, unexpectedResponse, unreachable, type TransportError } from "./errors.js";
import type { Lifetime } from "./lifetime.js";
import type { Settings } from "./options.js";
import { readHead, type Head } from "./wire/head.js";
import type { CompleteResponse } from "./wire/responses.js";

export interface Attempt {
  /** The status and the headers, also if the body did not arrive; `undefined` without a response. */
  readonly head: Head | undefined;
  readonly response: Result<CompleteResponse, TransportError>;
}

/** Ends request and response when the attempt times out or the call ends. Follows no redirect: the key is for this server. */
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

  async function sendAndRead(): Promise<Attempt["response"]> {
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
  const response = await Promise.race([sendAndRead(), late, lifetime.ended]);
  stop();
  controller.abort();
  return { head, response };
}

/** Reads a body of at most `limit` bytes of UTF-8. Cancels what it does not read. */
async function readBody(
  { body }: Response,
  head: Head,
  limit: number,
  signal: AbortSignal,
): Promise<Attempt["response"]> {
  if (body === null) return ok({ head, body: "" });
  const unexpected = (problem: string) => unexpectedResponse(problem, head.status, head.requestId);
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
      return err(unexpected(`It is longer than ${limit} bytes.`));
    }
    chunks.push(value);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = fromThrowable(
    () => chunks.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode(),
    () => unexpected("It is not UTF-8."),
  );
  return decode().map((text) => ({ head, body: text }));
}
