import type { PetStore, WithQuota } from "@petstore/core";
import type { OperationName } from "@petstore/core/facts";
import { err } from "neverthrow";
import { internalError, notFound, type ResponseError, type HttpError } from "./error.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import type { HttpSettings } from "./options.js";
import { createPerform, type Known, type Performed } from "./perform.js";
import { deprecationHeaders, renderError } from "./render.js";
import { UNKNOWN_OUTCOME, windowOf, type Outcome } from "./report.js";
import { matchRoute, type Target } from "./route.js";

/** A response, and the facts for its report. */
export interface Handled extends Outcome {
  readonly response: HttpResponse;
}

/** What is known of a request that cannot be read. */
export interface Glimpse {
  readonly method?: string | undefined;
  /** The lines of its `Origin`; `undefined` if they are not known. */
  readonly origins?: readonly string[] | undefined;
}

/** Handles the messages of every transport of a store. */
export interface Handler {
  /** Handles a request; without a target, with 404. A bug becomes a 500. */
  handle(request: HttpRequest, target: Target | undefined): Promise<Handled>;
  /** Responds to input that is not a request, of which this is known. */
  refuse(error: HttpError, clientAddress: string | undefined, seen: Glimpse): Handled;
}

/** Creates the handler of a store. */
export function createHandler(store: PetStore, settings: HttpSettings): Handler {
  const { onError, cors, rateLimitHeaders } = settings;
  const perform = createPerform(store, settings);

  async function handle(request: HttpRequest, target: Target | undefined): Promise<Handled> {
    const route = target ? matchRoute(target.path, request.method) : err(notFound());
    const operation = route.isOk() ? route.value.operation : undefined;
    const known: Known = { clientAddress: undefined, charged: undefined };
    let performed: Performed;
    try {
      performed = await perform(request, target, route, known);
    } catch (cause) {
      onError(cause);
      const quota = known.charged?.quota ?? store.anonymousQuota(known.clientAddress);
      performed = err({ ...internalError(), quota });
    }
    const response = performed.isOk() ? performed.value : renderFailure(performed.error, operation);
    if (cors !== undefined && target !== undefined) {
      Object.assign(response.headers, cors.headersFor(request.lines("origin")));
    }
    return {
      response: request.method === "HEAD" ? { ...response, body: "" } : response,
      operation,
      code: performed.isErr() ? performed.error.code : undefined,
      keyId: known.charged?.keyId,
      plan: known.charged?.plan,
      window: performed.isErr() ? windowOf(performed.error) : undefined,
    };
  }

  function renderFailure(
    failure: WithQuota<ResponseError>,
    operation: OperationName | undefined,
  ): HttpResponse {
    if (failure.code === "storage_unavailable") onError(failure.cause);
    return renderError(failure, rateLimitHeaders(failure.quota), deprecationHeaders(operation));
  }

  function refuse(error: HttpError, clientAddress: string | undefined, seen: Glimpse): Handled {
    const response = renderError(error, rateLimitHeaders(store.anonymousQuota(clientAddress)));
    Object.assign(response.headers, cors?.headersFor(seen.origins));
    if (seen.method === "HEAD") Object.assign(response, { body: "" });
    return { ...UNKNOWN_OUTCOME, response, code: error.code };
  }

  return { handle, refuse };
}
