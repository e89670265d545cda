import { clearTimeout, setTimeout } from "node:timers";
import { setImmediate } from "node:timers/promises";
import type { PetStore } from "@petstore/core";
import { err, ok } from "neverthrow";
import { badRequest, endedEarly, payloadTooLarge, requestTimeout } from "./error.js";
import { createHandler } from "./handle.js";
import { collectBytes, type BodyResult, type HttpRequest } from "./http-message.js";
import { parseOptions, type HttpOptions } from "./options.js";
import { flawOfCoding, flawOfHost } from "./request/headers.js";
import { locate } from "./request/route.js";

/** `Host` is the list of arguments that the host passes to the handler after the request. Everything has a default. */
export interface FetchOptions<
  Host extends readonly unknown[] = readonly unknown[],
> extends HttpOptions {
  /**
   * Tells callers without a valid key apart. A `Request` has no address: without this option they all share one bucket,
   * as do those for whom it returns `undefined`.
   */
  readonly clientAddress?: ((request: Request, ...host: Host) => string | undefined) | undefined;
}

/** Responds to a WHATWG request, from Hono, Next-like hosts, Deno, Bun or a test. */
export type FetchHandler<Host extends readonly unknown[] = readonly unknown[]> = (
  request: Request,
  ...host: Host
) => Promise<Response>;

/**
 * Creates a WHATWG handler for a store: `app.all("/v1/*", ({ req }) => handle(req.raw))`. A request outside the base path
 * gets 404. The URL must be the client's: if a router cuts a prefix from it, the `Location` of a new pet lacks it. Two
 * things cannot be checked in a `Request`: its URL is already normalised, and several lines of one header are joined.
 * @throws TypeError that names the option, if one is wrong.
 */
export function createFetchHandler<Host extends readonly unknown[] = readonly unknown[]>(
  store: PetStore,
  options: FetchOptions<Host> = {},
): FetchHandler<Host> {
  const settings = parseOptions(store, options);
  const { basePath, maxBodySeconds, startReport } = settings;
  const { clientAddress = () => undefined } = options;
  const handler = createHandler(store, settings);

  return async (request, ...host) => {
    const { headers } = request;
    const report = startReport(headers.get("X-Request-Id"), request.method);
    const message: HttpRequest = {
      method: request.method,
      // A request that was never sent has no Host.
      flaw:
        flawOfHost([headers.get("Host") ?? ""], true) ??
        flawOfCoding(headers.get("Transfer-Encoding") ?? undefined, true),
      connection: undefined,
      clientAddress: () => clientAddress(request, ...host),
      lines: (name) => [headers.get(name) ?? []].flat(),
      readBody: (limit) => readBody(request, limit, maxBodySeconds),
    };
    // A fragment is not part of a request (RFC 9110, section 7.1), but its URL keeps it.
    const [url = ""] = request.url.split("#", 1);
    const handled = await handler.handle(message, locate(basePath, url), report.requestId);
    const { status, headers: own, body } = handled.response;
    report.send?.(handled, status);
    return new Response(body === "" ? null : body, { status, headers: own });
  };
}

/** Reads a body of at most `limit` bytes for at most `seconds`, and cancels the rest. */
async function readBody(request: Request, limit: number, seconds: number): Promise<BodyResult> {
  if (request.bodyUsed || request.body?.locked)
    return err(badRequest("The host has read the body before the pet store."));
  if (request.body === null) return ok({ kind: "bytes", bytes: new Uint8Array() });
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<BodyResult>((resolve) => {
    deadline = setTimeout(() => resolve(err(requestTimeout())), seconds * 1_000);
  });
  try {
    return await Promise.race([collect(reader, limit), late]);
  } catch {
    return err(endedEarly());
  } finally {
    clearTimeout(deadline);
    void reader.cancel().catch(() => undefined);
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<BodyResult> {
  const collected = collectBytes(limit);
  for (let chunks = 1; ; chunks += 1) {
    // A source that has many small chunks at once must not hold up the others, nor the deadline.
    if (chunks % 1_000 === 0) await setImmediate();
    const { done, value } = await reader.read();
    if (done) return ok({ kind: "bytes", bytes: collected.all() });
    if (!collected.add(value)) return err(payloadTooLarge(limit));
  }
}
