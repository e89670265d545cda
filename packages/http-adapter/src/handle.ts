import type { PetStore } from "@petstore/core";
import { err, ok } from "neverthrow";
import { internalError, notFound, type HttpError } from "./error.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import type { HttpSettings } from "./options.js";
import { chargeAndRefuse, performers, type Known, type Performed } from "./perform.js";
import { createCallers, createProxyReport } from "./request/callers.js";
import { matchRoute, type Target } from "./request/route.js";
import {
  createPageRenderer,
  deprecationHeaders,
  renderError,
  renderPreflight,
} from "./response/render.js";
import { UNKNOWN_OUTCOME, type Outcome } from "./response/report.js";

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

/** Creates the handler of the messages of every transport of a store. */
export function createHandler(store: PetStore, settings: HttpSettings) {
  const { onError, cors, rateLimitHeaders, hasClientAddress } = settings;
  const reportProxy = hasClientAddress ? () => undefined : createProxyReport(onError);
  const callerOf = createCallers(store, reportProxy);
  const renderPage = createPageRenderer();

  /** In the order of checks: message, base path, preflight, key and limits, path and method, the rest. */
  function perform(
    request: HttpRequest,
    target: Target | undefined,
    route: ReturnType<typeof matchRoute>,
    known: Known,
  ): Performed | Promise<Performed> {
    const clientAddress = request.clientAddress();
    known.clientAddress = clientAddress;
    if (request.flaw !== undefined || target === undefined)
      return err({ ...(request.flaw ?? notFound()), quota: store.anonymousQuota(clientAddress) });
    if (cors?.isPreflight(request) === true)
      return ok(renderPreflight(rateLimitHeaders(store.anonymousQuota(clientAddress))));
    const caller = callerOf(request, clientAddress);
    if (route.isErr()) return chargeAndRefuse(caller, known, route.error);
    const { operation, parameter } = route.value;
    return performers[operation]({
      caller,
      known,
      request,
      target,
      parameter,
      renderPage,
      settings,
    });
  }

  /** Handles a request; without a target, with 404. A bug becomes a 500. */
  async function handle(
    request: HttpRequest,
    target: Target | undefined,
    requestId: string | undefined,
  ): Promise<Handled> {
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
    const error = performed.isErr() ? performed.error : undefined;
    if (error?.code === "storage_unavailable") onError(error.cause);
    const response = performed.isOk()
      ? performed.value
      : renderError(performed.error, rateLimitHeaders(performed.error.quota));
    Object.assign(response.headers, deprecationHeaders(operation));
    if (target !== undefined)
      Object.assign(response.headers, cors?.headersFor(request.lines("origin")));
    if (requestId !== undefined) response.headers["X-Request-Id"] = requestId;
    return {
      response: request.method === "HEAD" ? { ...response, body: "" } : response,
      operation,
      code: error?.code,
      keyId: known.charged?.keyId,
      plan: known.charged?.plan,
      window: error?.code === "rate_limit_exceeded" ? error.window : undefined,
    };
  }

  /** Responds to input that is not a request, of which this is known. */
  function refuse(
    error: HttpError,
    clientAddress: string | undefined,
    seen: Glimpse,
    requestId: string | undefined,
  ): Handled {
    const response = renderError(error, rateLimitHeaders(store.anonymousQuota(clientAddress)));
    Object.assign(response.headers, cors?.headersFor(seen.origins));
    if (requestId !== undefined) response.headers["X-Request-Id"] = requestId;
    if (seen.method === "HEAD") Object.assign(response, { body: "" });
    return { ...UNKNOWN_OUTCOME, response, code: error.code };
  }

  return { handle, refuse };
}
