import type { Admission, Caller, Pet, PetStore, Quota, WithQuota } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { checkContent, parseBody } from "./content.js";
import { GET_PET_DEPRECATION } from "./deprecation.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import { encodePet } from "./json/encode.js";
import { nextLink, readListQuery } from "./query.js";
import { internalError } from "./refusal.js";
import {
  createPageRenderer,
  render,
  renderBody,
  renderError,
  type RenderedBody,
} from "./render.js";
import { matchRoute, type OperationName, type Target } from "./route.js";
import type { Failure } from "./status.js";

/** A response, and what a log wants to know about it. */
export interface Handled {
  readonly response: HttpResponse;
  readonly operation: OperationName | undefined;
  readonly code: Failure["code"] | undefined;
  readonly keyId: string | undefined;
}

/** Handles a request below the base path. */
export type Handle = (request: HttpRequest, target: Target) => Promise<Handled>;

/** An admission as the network uses it: the engine alone judges what a client has sent. */
interface UntrustedAdmission extends Pick<Admission, "quota"> {
  listPets(input: unknown): ReturnType<Admission["listPets"]>;
  createPet(input: unknown): ReturnType<Admission["createPet"]>;
  getPet(id: string): ReturnType<Admission["getPet"]>;
}

type Performed = Promise<Result<HttpResponse, WithQuota<Failure>>>;

/** The way of a request from any transport to the engine and back, for one store. */
export function createHandle(
  store: PetStore,
  maxBodyBytes: number,
  onError: (cause: unknown) => void,
): Handle {
  const callerOf = createCallers(store);
  const renderPage = createPageRenderer();

  /** The lines are the order of checks: message, key and limits, path and method, the rest. */
  return async function handle(request, target) {
    const route = matchRoute(target.path, request.method);
    const operation = route.isOk() ? route.value.operation : undefined;
    const more = operation === "getPet" ? GET_PET_DEPRECATION : {};
    let origin: string | undefined;
    let admission: Admission | undefined;

    const refuse = (failure: Failure, quota: Quota): Handled => {
      if (failure.code === "storage_unavailable") onError(failure.cause);
      const response = renderError(failure, quota, more);
      return done(response, failure.code);
    };
    const done = (response: HttpResponse, code?: Failure["code"]): Handled => ({
      response: request.method === "HEAD" ? { ...response, body: "" } : response,
      operation,
      code,
      keyId: admission?.keyId,
    });

    try {
      origin = request.origin();
      if (request.flaw !== undefined) return refuse(request.flaw, store.anonymousQuota(origin));

      const admitted = await callerOf(request, origin).admit();
      if (admitted.isErr()) return refuse(admitted.error, admitted.error.quota);
      admission = admitted.value;

      if (route.isErr()) return refuse(route.error, admission.quota);

      let performed: Awaited<Performed>;
      switch (route.value.operation) {
        case "listPets":
          performed = await listPets(admission, target, renderPage);
          break;
        case "createPet":
          performed = await createPet(admission, request, target, maxBodyBytes);
          break;
        case "getPet":
          performed = await getPet(admission, route.value.petId);
      }
      return performed.isOk()
        ? done(performed.value)
        : refuse(performed.error, performed.error.quota);
    } catch (cause) {
      onError(cause);
      return refuse(internalError(), admission?.quota ?? store.anonymousQuota(origin));
    }
  };
}

async function listPets(
  admission: UntrustedAdmission,
  { query }: Target,
  renderPage: (pets: readonly Pet[]) => RenderedBody,
): Performed {
  const input = readListQuery(query);
  const listed = await admission.listPets(input);
  if (listed.isErr()) return err(listed.error);
  const { pets, next, quota } = listed.value;
  const link = next === undefined ? {} : { Link: nextLink(input, next) };
  return ok(render(200, renderPage(pets), quota, link));
}

async function createPet(
  admission: UntrustedAdmission,
  request: HttpRequest,
  { clientPath }: Target,
  maxBodyBytes: number,
): Performed {
  const { quota } = admission;
  const content = checkContent(request, maxBodyBytes);
  if (content.isErr()) return err({ ...content.error, quota });
  const body = await request.readBody(maxBodyBytes);
  if (body.isErr()) return err({ ...body.error, quota });
  const input = parseBody(body.value);
  if (input.isErr()) return err({ ...input.error, quota });

  const created = await admission.createPet(input.value);
  if (created.isErr()) return err(created.error);
  const { pet } = created.value;
  const location = { Location: `${clientPath}/${pet.id}` };
  return ok(render(201, renderBody(encodePet(pet)), created.value.quota, location));
}

async function getPet(admission: UntrustedAdmission, petId: string): Performed {
  const found = await admission.getPet(petId);
  if (found.isErr()) return err(found.error);
  // The deprecation headers are on all responses of getPet, this one too.
  const { pet, quota } = found.value;
  return ok(render(200, renderBody(encodePet(pet)), quota, GET_PET_DEPRECATION));
}

interface Remembered {
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly caller: Caller;
}

/**
 * Finds the caller of a request. A client sends the same credential with every request of a
 * connection, and a caller digests its key once: so the last caller of each connection is remembered.
 * The engine checks with every request whether the key is still accepted.
 */
function createCallers(
  store: PetStore,
): (request: HttpRequest, origin: string | undefined) => Caller {
  const remembered = new WeakMap<object, Remembered>();
  return ({ connection, lines }, origin) => {
    const authorizations = lines("authorization");
    if (connection === undefined || authorizations.length > 1) {
      return store.as(apiKeyOf(authorizations), origin);
    }
    const [authorization] = authorizations;
    const last = remembered.get(connection);
    if (last !== undefined && last.authorization === authorization && last.origin === origin) {
      return last.caller;
    }
    const caller = store.as(apiKeyOf(authorizations), origin);
    remembered.set(connection, { authorization, origin, caller });
    return caller;
  };
}

const BEARER = /^bearer +(\S.*)$/i;

/**
 * The API key in a request's Authorization lines, or `undefined` when they hold no bearer
 * credential: no line, another scheme (RFC 6750, section 3.1: no authentication information), or
 * nothing after the scheme. Several lines contradict each other and become a text that is no key.
 */
function apiKeyOf(lines: readonly string[]): string | undefined {
  const [line, ...others] = lines;
  if (line === undefined) return undefined;
  return others.length === 0 ? BEARER.exec(line)?.[1] : lines.join(", ");
}
