import type { PetStore } from "@petstore/core";
import { createAnswerer } from "../answer.js";
import type { HttpRequest, HttpResponse } from "../http-message.js";
import { locate } from "../place.js";
import { readFetchBody } from "./body.js";
import { parseFetchSettings, type FetchOptions } from "./options.js";

/** Answers a WHATWG request: what Hono, Next-like hosts, Deno, Bun and tests call. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Creates a WHATWG handler for a store: `app.mount("/", createFetchHandler(store))`. What goes
 * elsewhere than below the base path is answered 404.
 *
 * A `Request` has lost two things on the way here: the raw target, since its URL is already
 * normalised, and the seam between two lines of one header.
 * @throws TypeError that names the option, when one is wrong.
 */
export function createFetchHandler(store: PetStore, options: FetchOptions = {}): FetchHandler {
  const settings = parseFetchSettings(options);
  const answerer = createAnswerer(store, settings);
  return async (request) => {
    const neutral = toHttpRequest(request, settings.origin(request));
    const place = locate(settings.basePath, request.url);
    return toResponse(
      place === undefined
        ? answerer.answerElsewhere(neutral)
        : await answerer.answer(neutral, place),
    );
  };
}

function toHttpRequest(request: Request, origin: string | undefined): HttpRequest {
  return {
    method: request.method,
    origin,
    flaw: undefined,
    lines: (name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [value];
    },
    readBody: (limit) => readFetchBody(request, limit),
  };
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  const fields = new Headers();
  for (let index = 0; index < headers.length; index += 2) {
    fields.append(headers[index] ?? "", headers[index + 1] ?? "");
  }
  return new Response(body === "" ? null : body, { status, headers: fields });
}
