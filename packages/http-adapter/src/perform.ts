import type {
  Admission,
  Caller,
  Charged,
  CreatePetOptions,
  Pet,
  PetStore,
  WithQuota,
} from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { encodePet } from "@petstore/wire";
import { createCallers, createProxyReport } from "./callers.js";
import { notFound, type ResponseError } from "./error.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import { parseBody } from "./json.js";
import type { HttpSettings } from "./options.js";
import {
  createPageRenderer,
  deprecationHeaders,
  render,
  renderBody,
  renderPreflight,
  type RateLimitHeaders,
  type RenderedBody,
} from "./render.js";
import { checkContent, idempotencyKeyOf } from "./request-headers.js";
import { nextLink, readListQuery, type matchRoute, type Target } from "./route.js";

/** A caller that takes unvalidated input: the engine validates it. */
interface UntrustedCaller extends Pick<Caller, "admit" | "getPet"> {
  listPets(input: unknown): ReturnType<Caller["listPets"]>;
}

/** An admission that takes unvalidated input, too. */
interface UntrustedAdmission extends Pick<Admission, "quota"> {
  createPet(input: unknown, options: CreatePetOptions): ReturnType<Admission["createPet"]>;
}

/** The response to a request, or why it is refused. */
export type Performed = Result<HttpResponse, WithQuota<ResponseError>>;

/** The facts about a request that are known so far; a report and an error response need them. */
export interface Known {
  clientAddress: string | undefined;
  charged: Charged | undefined;
}

/** Creates the function that checks and performs a request. It adds each fact that it finds out to `known`. */
export function createPerform(store: PetStore, settings: HttpSettings) {
  const { rateLimitHeaders, cors, hasClientAddress, onError } = settings;
  const callerOf = createCallers(
    store,
    hasClientAddress ? () => undefined : createProxyReport(onError),
  );
  const renderPage = createPageRenderer();

  /** In the order of checks: message, base path, preflight, key and limits, path and method, the rest. */
  return function perform(
    request: HttpRequest,
    target: Target | undefined,
    route: ReturnType<typeof matchRoute>,
    known: Known,
  ): Performed | Promise<Performed> {
    const clientAddress = request.clientAddress();
    known.clientAddress = clientAddress;
    if (request.flaw !== undefined) {
      return err({ ...request.flaw, quota: store.anonymousQuota(clientAddress) });
    }
    if (target === undefined)
      return err({ ...notFound(), quota: store.anonymousQuota(clientAddress) });
    if (cors?.isPreflight(request) === true) {
      return ok(renderPreflight(rateLimitHeaders(store.anonymousQuota(clientAddress))));
    }

    const caller = callerOf(request, clientAddress);
    if (route.isErr()) return chargeAndRefuse(caller, known, route.error);
    switch (route.value.operation) {
      case "listPets":
        return listPets(caller, known, target, renderPage, rateLimitHeaders);
      case "createPet":
        return createPet(caller, known, request, target, settings);
      case "getPet":
        return getPet(caller, known, route.value.parameter, rateLimitHeaders);
    }
  };
}

/** Returns the quota and the key of a result; an error has them, too. */
function chargedOf(result: Result<Charged, Charged>): Charged {
  return result.isOk() ? result.value : result.error;
}

/** Refuses a request whose path or method names no operation. It is charged like any other. */
async function chargeAndRefuse(
  caller: UntrustedCaller,
  known: Known,
  error: ResponseError,
): Promise<Performed> {
  const admitted = await caller.admit();
  known.charged = chargedOf(admitted);
  return err(admitted.isErr() ? admitted.error : { ...error, quota: admitted.value.quota });
}

async function listPets(
  caller: UntrustedCaller,
  known: Known,
  { query }: Target,
  renderPage: (pets: readonly Pet[]) => RenderedBody,
  rateLimitHeaders: RateLimitHeaders,
): Promise<Performed> {
  const input = readListQuery(query);
  const listed = await caller.listPets(input);
  known.charged = chargedOf(listed);
  if (listed.isErr()) return err(listed.error);
  const { pets, next, quota } = listed.value;
  const link = next === undefined ? {} : { Link: nextLink(input, next) };
  return ok(render(200, renderPage(pets), rateLimitHeaders(quota), link));
}

async function createPet(
  caller: UntrustedCaller,
  known: Known,
  request: HttpRequest,
  { clientPath }: Target,
  { maxBodyBytes, rateLimitHeaders }: HttpSettings,
): Promise<Performed> {
  // The caller is charged before its body is read.
  const admitted = await caller.admit();
  known.charged = chargedOf(admitted);
  if (admitted.isErr()) return err(admitted.error);
  const admission: UntrustedAdmission = admitted.value;
  const { quota } = admission;
  const content = checkContent(request, maxBodyBytes);
  if (content.isErr()) return err({ ...content.error, quota });
  const idempotencyKey = idempotencyKeyOf(request.lines("idempotency-key"));
  if (idempotencyKey.isErr()) return err({ ...idempotencyKey.error, quota });
  const body = await request.readBody(maxBodyBytes);
  if (body.isErr()) return err({ ...body.error, quota });
  const input = parseBody(body.value);
  if (input.isErr()) return err({ ...input.error, quota });

  const options = { idempotencyKey: idempotencyKey.value };
  const created = await admission.createPet(input.value, options);
  if (created.isErr()) return err(created.error);
  const { pet, replayed } = created.value;
  const headers: Record<string, string> = { Location: `${clientPath}/${pet.id}` };
  if (replayed) headers["Idempotent-Replayed"] = "true";
  return ok(render(201, renderBody(encodePet(pet)), rateLimitHeaders(quota), headers));
}

async function getPet(
  caller: UntrustedCaller,
  known: Known,
  petId: string,
  rateLimitHeaders: RateLimitHeaders,
): Promise<Performed> {
  const found = await caller.getPet(petId);
  known.charged = chargedOf(found);
  if (found.isErr()) return err(found.error);
  const { pet, quota } = found.value;
  const rateLimit = rateLimitHeaders(quota);
  return ok(render(200, renderBody(encodePet(pet)), rateLimit, deprecationHeaders("getPet")));
}
