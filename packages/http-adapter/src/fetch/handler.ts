import type { PetStore } from "@petstore/core";
import { createAnswerer } from "../answer.js";
import type { HttpRequest, HttpResponse } from "../http-message.js";
import { locate } from "../place.js";
import { notFound } from "../refusal.js";
import { readFetchBody } from "./body.js";
import { flawOf } from "./flaw.js";
import { parseFetchSettings, type FetchOptions } from "./options.js";

/**
 * Answers a WHATWG request: what Hono, Next-like hosts, Deno, Bun and tests call. What a host passes
 * beside the request goes to the `origin` option.
 */
export type FetchHandler<Host extends readonly unknown[] = readonly unknown[]> = (
  request: Request,
  ...host: Host
) => Promise<Response>;

/**
 * Creates a WHATWG handler for a store: `app.all("/v1/*", ({ req }) => handle(req.raw))`. What goes
 * elsewhere than below the base path is answered 404. The URL is to be the client's: a router that
 * cuts its prefix from it leaves nothing that could tell a client where a new pet is.
 *
 * A `Request` has lost two things on the way here: the raw target, since its URL is already
 * normalised, and the seam between two lines of one header.
 * @throws TypeError that names the option, when one is wrong.
 */
export function createFetchHandler<Host extends readonly unknown[] = readonly unknown[]>(
  store: PetStore,
  options: FetchOptions<Host> = {},
): FetchHandler<Host> {
  const settings = parseFetchSettings(options);
  const answerer = createAnswerer(store, settings);
  return async (request, ...host) => {
    const neutral = toHttpRequest(
      request,
      settings.origin(request, ...host),
      settings.maxBodySeconds,
    );
    // A fragment is no part of a request (RFC 9110, section 7.1), but stays in its URL.
    const [target = ""] = request.url.split("#", 1);
    const place = locate(settings.basePath, target);
    return toResponse(
      place === undefined
        ? answerer.refuse(notFound(), neutral)
        : await new Promise<HttpResponse>((resolve) => {
            answerer.answer(neutral, place, resolve);
          }),
    );
  };
}

function toHttpRequest(request: Request, origin: string | undefined, seconds: number): HttpRequest {
  return {
    method: request.method,
    origin,
    flaw: flawOf(request),
    connection: undefined,
    lines: (name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [value];
    },
    readBody: (limit) => readFetchBody(request, limit, seconds),
  };
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  const fields = new Headers();
  for (let index = 0; index < headers.length; index += 2) {
    fields.append(headers[index] ?? "", headers[index + 1] ?? "");
  }
  return new Response(body === "" ? null : body, { status, headers: fields });
}
