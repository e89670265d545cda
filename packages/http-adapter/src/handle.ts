import type { Admission, Caller, Charged, CreatePetOptions, PetStore } from "@petstore/core";
import type { WithQuota } from "@petstore/core";
import { operations, type OperationName } from "@petstore/core/facts";
import { err, ok, type Result } from "neverthrow";
import { internalError, notFound, type HttpError, type ResponseError } from "./error.js";
import type { Headers, HttpRequest, HttpResponse } from "./http-message.js";
import type { HttpSettings } from "./options.js";
import { parseBody } from "./request/body.js";
import { checkContent, createCallers, idempotencyKeyOf } from "./request/headers.js";
import { nextLink, readListQuery } from "./request/list-query.js";
import { matchRoute, type Target } from "./request/route.js";
import { isPreflight, PREFLIGHT_HEADERS } from "./response/cors.js";
import * as responses from "./response/render.js";
import type { PartialReport } from "./response/report.js";

export interface Handled extends PartialReport {
  readonly response: HttpResponse;
}

/** What is known of a request that cannot be read. */
export interface Glimpse {
  readonly method?: string | undefined;
  /** The lines of its `Origin`; `undefined` if they are not known. */
  readonly origins?: readonly string[] | undefined;
}

export function createHandler(store: PetStore, settings: HttpSettings) {
  const { onError, cors, render } = settings;
  const perform = createPerform(store, settings);

  return {
    /** Handles a request; without a target, with 404. A bug becomes a 500. */
    handle: async (
      request: HttpRequest,
      target: Target | undefined,
      requestId: string | undefined,
    ): Promise<Handled> => {
      const route = target ? matchRoute(target.path, request.method) : err(notFound());
      const operation = route.isOk() ? route.value.operation : undefined;
      const known: Known = { clientAddress: undefined, charged: undefined };
      let result: Performed;
      try {
        result = await perform(request, target, route, known);
      } catch (cause) {
        onError(cause);
        const quota = known.charged?.quota ?? store.anonymousQuota(known.clientAddress);
        result = err({ ...internalError(), quota });
      }
      const error = result.isErr() ? result.error : undefined;
      if (error?.code === "storage_unavailable") onError(error.cause);
      const rendered = result.isOk() ? result.value : responses.renderError(result.error, render);
      Object.assign(rendered.headers, responses.deprecationHeaders(operation));
      const corsHeaders = target && cors?.(request.lines("origin"));
      const response = complete(rendered, request.method, requestId, corsHeaders);
      const { keyId, plan } = known.charged ?? {};
      const window = error?.code === "rate_limit_exceeded" ? error.window : undefined;
      return { response, operation, code: error?.code, keyId, plan, window };
    },
    /** Refuses what cannot be read. */
    refuse: (
      error: HttpError,
      clientAddress: string | undefined,
      { method, origins }: Glimpse,
      requestId: string | undefined,
    ): Handled => {
      const quota = store.anonymousQuota(clientAddress);
      const rendered = responses.renderError({ ...error, quota }, render);
      const response = complete(rendered, method, requestId, cors?.(origins));
      return { response, code: error.code };
    },
  };
}

/** Adds the headers that every response has, whatever its outcome. A response to HEAD has no body. */
function complete(
  response: HttpResponse,
  method: string | undefined,
  requestId: string | undefined,
  corsHeaders: Headers | undefined,
): HttpResponse {
  Object.assign(response.headers, corsHeaders);
  if (requestId !== undefined) response.headers["X-Request-Id"] = requestId;
  return method === "HEAD" ? { ...response, body: "" } : response;
}

type Performed = Result<HttpResponse, WithQuota<ResponseError>>;

/** The facts about a request that are known so far; a report and an error response need them. */
interface Known {
  clientAddress: string | undefined;
  charged: Charged | undefined;
}

/**
 * Creates the function that performs a request. The order of its checks: message, base path, preflight, key and limits,
 * path and method, the rest.
 */
function createPerform(store: PetStore, settings: HttpSettings) {
  const { cors, render } = settings;
  const callerOf = createCallers(store, settings);
  const renderPage = responses.createPageRenderer();
  return (
    request: HttpRequest,
    target: Target | undefined,
    route: ReturnType<typeof matchRoute>,
    known: Known,
  ): Performed | Promise<Performed> => {
    const clientAddress = request.clientAddress();
    known.clientAddress = clientAddress;
    if (request.flaw !== undefined || target === undefined)
      return err({ ...(request.flaw ?? notFound()), quota: store.anonymousQuota(clientAddress) });
    if (cors !== undefined && isPreflight(request)) {
      const quota = store.anonymousQuota(clientAddress);
      return ok(render(204, undefined, quota, PREFLIGHT_HEADERS));
    }
    const caller = callerOf(request, clientAddress);
    if (route.isErr()) return chargeAndRefuse(caller, known, route.error);
    const { operation, parameter } = route.value;
    const call = { caller, known, request, target, parameter, renderPage, settings };
    return performers[operation](call);
  };
}

/** The engine validates any input; its own types are narrower, so that a host's mistake does not compile. */
interface UntrustedCaller extends Omit<Caller, "listPets"> {
  listPets(input: unknown): ReturnType<Caller["listPets"]>;
}

interface UntrustedAdmission extends Pick<Admission, "quota"> {
  createPet(input: unknown, options: CreatePetOptions): ReturnType<Admission["createPet"]>;
}

interface Routed {
  readonly caller: UntrustedCaller;
  readonly known: Known;
  readonly request: HttpRequest;
  readonly target: Target;
  readonly parameter: string;
  readonly renderPage: ReturnType<typeof responses.createPageRenderer>;
  readonly settings: HttpSettings;
}

const performers: Readonly<Record<OperationName, (call: Routed) => Promise<Performed>>> = {
  listPets,
  createPet,
  getPet,
};

function chargedOf(result: Result<Charged, Charged>): Charged {
  return result.isOk() ? result.value : result.error;
}

async function chargeAndRefuse(
  caller: UntrustedCaller,
  known: Known,
  error: ResponseError,
): Promise<Performed> {
  const admitted = await caller.admit();
  known.charged = chargedOf(admitted);
  return err(admitted.isErr() ? admitted.error : { ...error, quota: admitted.value.quota });
}

async function listPets(call: Routed): Promise<Performed> {
  const { caller, known, target, renderPage, settings } = call;
  const input = readListQuery(target.query);
  const listed = await caller.listPets(input);
  known.charged = chargedOf(listed);
  if (listed.isErr()) return err(listed.error);
  const { pets, next, quota } = listed.value;
  const link = next === undefined ? {} : { Link: nextLink(input, next) };
  const { success } = operations.listPets;
  return ok(settings.render(success, renderPage(pets), quota, link));
}

async function createPet(call: Routed): Promise<Performed> {
  const { caller, known, request, target, settings } = call;
  // The caller is charged before its body is read.
  const admitted = await caller.admit();
  known.charged = chargedOf(admitted);
  if (admitted.isErr()) return err(admitted.error);
  const admission: UntrustedAdmission = admitted.value;
  const { quota } = admission;
  const content = checkContent(request, settings.maxBodyBytes);
  if (content.isErr()) return err({ ...content.error, quota });
  const idempotencyKey = idempotencyKeyOf(request.lines("idempotency-key"));
  if (idempotencyKey.isErr()) return err({ ...idempotencyKey.error, quota });
  const body = await request.readBody(settings.maxBodyBytes);
  if (body.isErr()) return err({ ...body.error, quota });
  const input = parseBody(body.value);
  if (input.isErr()) return err({ ...input.error, quota });

  const options = { idempotencyKey: idempotencyKey.value };
  const created = await admission.createPet(input.value, options);
  if (created.isErr()) return err(created.error);
  const { pet, replayed } = created.value;
  const headers: Record<string, string> = { Location: `${target.clientPath}/${pet.id}` };
  if (replayed) headers["Idempotent-Replayed"] = "true";
  const { success } = operations.createPet;
  return ok(settings.render(success, responses.renderPet(pet), quota, headers));
}

async function getPet({ caller, known, parameter, settings }: Routed): Promise<Performed> {
  const found = await caller.getPet(parameter);
  known.charged = chargedOf(found);
  if (found.isErr()) return err(found.error);
  const { pet, quota } = found.value;
  const { success } = operations.getPet;
  return ok(settings.render(success, responses.renderPet(pet), quota));
}
