import type { PetStore } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { collectBytes } from "./bytes.js";
import { flawOfCoding, flawOfHost } from "./flaw.js";
import { createHandle, type Handled } from "./handle.js";
import type { HttpBody, HttpRequest } from "./http-message.js";
import { parseOptions, type HttpOptions } from "./options.js";
import {
  badRequest,
  notFound,
  payloadTooLarge,
  requestTimeout,
  type UnreadableMessage,
} from "./refusal.js";
import { renderError } from "./render.js";
import { createReports } from "./report.js";
import { locate } from "./route.js";

/**
 * The options of the `fetch` handler; everything has a default. `Host` are the arguments that the
 * host calls the handler with beside the request.
 */
export interface FetchOptions<
  Host extends readonly unknown[] = readonly unknown[],
> extends HttpOptions {
  /**
   * Tells callers without a valid key apart. A `Request` knows no address, so without this option
   * all such callers share one bucket.
   */
  readonly origin?: ((request: Request, ...host: Host) => string | undefined) | undefined;
}

/**
 * Responds to a WHATWG request, as Hono, Next-like hosts, Deno, Bun and tests call it. The arguments
 * beside the request go to the `origin` option.
 */
export type FetchHandler<Host extends readonly unknown[] = readonly unknown[]> = (
  request: Request,
  ...host: Host
) => Promise<Response>;

/**
 * Creates a WHATWG handler for a store: `app.all("/v1/*", ({ req }) => handle(req.raw))`. A request
 * outside the base path gets 404. The URL has to be the client's: if a router cuts its prefix from
 * it, the `Location` of a new pet lacks it.
 *
 * A `Request` has lost two things on the way here: the raw target, since its URL is already
 * normalised, and the seam between two lines of one header.
 * @throws TypeError that names the option, when one is wrong.
 */
export function createFetchHandler<Host extends readonly unknown[] = readonly unknown[]>(
  store: PetStore,
  options: FetchOptions<Host> = {},
): FetchHandler<Host> {
  const settings = parseOptions(store, options);
  const { basePath, maxBodyBytes, maxBodySeconds, onError } = settings;
  const { origin = () => undefined } = options;
  const handle = createHandle(store, maxBodyBytes, onError);
  const startReport = createReports(settings.onResponse, settings.clock);

  return async (request, ...host) => {
    const report = startReport();
    const message = toHttpRequest(request, () => origin(request, ...host), maxBodySeconds);
    // A fragment is no part of a request (RFC 9110, section 7.1), but stays in its URL.
    const [url = ""] = request.url.split("#", 1);
    const target = locate(basePath, url);
    const handled =
      target === undefined ? refuseElsewhere(store, message) : await handle(message, target);
    const { status, headers, body } = handled.response;
    const fields = new Headers(headers);
    const requestId = settings.requestIdOf?.(request.headers.get("X-Request-Id"));
    if (requestId !== undefined) fields.set("X-Request-Id", requestId);
    const { operation, code, keyId } = handled;
    report?.({ operation, status, code, keyId, requestId });
    return new Response(body === "" ? null : body, { status, headers: fields });
  };
}

function refuseElsewhere(store: PetStore, { method, origin }: HttpRequest): Handled {
  const response = renderError(notFound(), store.anonymousQuota(origin()));
  return {
    response: method === "HEAD" ? { ...response, body: "" } : response,
    ...{ operation: undefined, code: "not_found", keyId: undefined },
  };
}

function toHttpRequest(
  request: Request,
  origin: () => string | undefined,
  seconds: number,
): HttpRequest {
  const { headers } = request;
  return {
    method: request.method,
    // Two lines have become one value, and a request that was never sent has no Host.
    flaw:
      flawOfHost([headers.get("Host") ?? ""], true) ??
      flawOfCoding(headers.get("Transfer-Encoding") ?? undefined, true),
    connection: undefined,
    origin,
    lines: (name) => {
      const value = headers.get(name);
      return value === null ? [] : [value];
    },
    readBody: (limit) => readBody(request, limit, seconds),
  };
}

type Read = Result<HttpBody, UnreadableMessage>;

/** Reads a body of at most `limit` bytes and for at most `seconds`; cancels the rest. */
async function readBody(request: Request, limit: number, seconds: number): Promise<Read> {
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
    void cancel(reader);
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Read> {
  const collected = collectBytes(limit);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ok({ kind: "bytes", bytes: collected.all() });
    if (!collected.add(value)) return err(payloadTooLarge(limit));
  }
}

/** The source may fail at it, which changes nothing. */
async function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // See above.
  }
}
