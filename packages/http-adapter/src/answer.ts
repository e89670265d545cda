import type { Caller, PetStore, Quota } from "@petstore/core";
import { err, type Result } from "neverthrow";
import { createCallers, type Callers } from "./callers.js";
import { GET_PET_DEPRECATION } from "./deprecation.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import { perform, type Performed, type Stage } from "./perform.js";
import type { Place } from "./place.js";
import { internalError, type Refusal } from "./refusal.js";
import {
  createPageRenderer,
  NO_FIELDS,
  render,
  renderError,
  renderHead,
  type Fields,
} from "./render.js";
import { matchRoute, type Operation } from "./route.js";
import { must, type HttpSettings } from "./settings.js";
import type { Failure } from "./status.js";

/** The neutral core of every transport: a request in, a response out. Never throws. */
export interface Answerer {
  /** Answers a request below the base path: calls `respond` once, in this turn or a later one. */
  answer(request: HttpRequest, place: Place, respond: (response: HttpResponse) => void): void;
  /** Refuses what was never admitted, at no cost: with the origin's own quota. */
  refuse(refusal: Refusal, request: Pick<HttpRequest, "method" | "origin">): HttpResponse;
}

/** Callers may be JavaScript: a store that was forgotten would be a 500 at every request. */
function isStore(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["as", "anonymousQuota"].every((name) => typeof Reflect.get(value, name) === "function");
}

type Route = Result<Operation, Failure>;
type Admitted = Awaited<ReturnType<Caller["admit"]>>;

interface Context {
  readonly store: PetStore;
  readonly callerOf: Callers;
  readonly onError: (cause: unknown) => void;
  readonly stage: Stage;
}

/**
 * The neutral core for a store.
 * @throws TypeError when that is none.
 */
export function createAnswerer(
  store: PetStore,
  { maxBodyBytes, onError }: Pick<HttpSettings, "maxBodyBytes" | "onError">,
): Answerer {
  must(isStore(store), "store", "must be a store, as createPetStore makes it");
  const context: Context = {
    store,
    callerOf: createCallers(store),
    onError,
    stage: { maxBodyBytes, renderPage: createPageRenderer() },
  };
  return {
    answer: (request, place, respond) => {
      const route = matchRoute(place.path, request.method);
      attempt(request, place, route, context, (performed) => {
        if (performed.isErr()) report(performed.error, onError);
        respond(renderFor(request.method, performed, fieldsOf(route)));
      });
    },
    refuse: (refusal, { method, origin }) => {
      const quota = anonymousQuota(origin, context);
      return renderFor(method, err({ ...refusal, quota }), NO_FIELDS);
    },
  };
}

/**
 * The order of checks: the message, then key and limits, then path and method, then the rest. With
 * callbacks: an `async` function allocates more, and waits a turn of the microtask queue at each `await`.
 */
function attempt(
  request: HttpRequest,
  place: Place,
  route: Route,
  context: Context,
  done: (performed: Performed) => void,
): void {
  const { flaw, origin } = request;
  let quota = (): Quota => anonymousQuota(origin, context);

  const begin = (): void => {
    if (flaw !== undefined) done(err({ ...flaw, quota: quota() }));
    else context.callerOf(request).admit().then(guard(goOn), fail);
  };
  const goOn = (admitted: Admitted): void => {
    if (admitted.isErr()) {
      done(err(admitted.error));
      return;
    }
    const admission = admitted.value;
    quota = () => admission.quota;
    if (route.isErr()) done(err({ ...route.error, quota: admission.quota }));
    else perform(route.value, admission, request, place, context.stage).then(guard(done), fail);
  };
  const guard =
    <Value>(step: (value: Value) => void) =>
    (value: Value): void => {
      try {
        step(value);
      } catch (cause) {
        fail(cause);
      }
    };
  const fail = (cause: unknown): void => {
    context.onError(cause);
    done(err({ ...internalError(), quota: quota() }));
  };
  guard(begin)(undefined);
}

/** What a caller is told when even the engine cannot say. */
const UNKNOWN_QUOTA: Quota = Object.freeze({ limit: 0, remaining: 0, resetAt: 0 });

function anonymousQuota(origin: string | undefined, { store, onError }: Context): Quota {
  try {
    return store.anonymousQuota(origin);
  } catch (cause) {
    onError(cause);
    return UNKNOWN_QUOTA;
  }
}

function report(failure: Failure, onError: (cause: unknown) => void): void {
  if (failure.code === "storage_unavailable") onError(failure.cause);
}

function fieldsOf(route: Route): Fields {
  return route.isOk() && route.value.kind === "getPet" ? GET_PET_DEPRECATION : NO_FIELDS;
}

function renderFor(method: string, performed: Performed, fields: Fields): HttpResponse {
  const response = performed.isOk()
    ? render(performed.value, fields)
    : renderError(performed.error, fields);
  return method === "HEAD" ? renderHead(response) : response;
}
