import type { Admission, Caller, Charged, CreatePetOptions, Pet, WithQuota } from "@petstore/core";
import type { OperationName } from "@petstore/core/facts";
import { operations } from "@petstore/wire";
import { err, ok, type Result } from "neverthrow";
import type { ResponseError } from "./error.js";
import type { HttpRequest, HttpResponse } from "./http-message.js";
import type { HttpSettings } from "./options.js";
import { parseBody } from "./request/body.js";
import { checkContent, idempotencyKeyOf } from "./request/headers.js";
import { nextLink, readListQuery, type Target } from "./request/route.js";
import { render, renderPet, type RenderedBody } from "./response/render.js";

/** The response to a request, or why it is refused. */
export type Performed = Result<HttpResponse, WithQuota<ResponseError>>;

/** The facts about a request that are known so far; a report and an error response need them. */
export interface Known {
  clientAddress: string | undefined;
  charged: Charged | undefined;
}

/** A request for an operation. */
interface Call {
  readonly caller: UntrustedCaller;
  readonly known: Known;
  readonly request: HttpRequest;
  readonly target: Target;
  /** The value of the path's parameter. */
  readonly parameter: string;
  readonly renderPage: (pets: readonly Pet[]) => RenderedBody;
  readonly settings: HttpSettings;
}

/** A caller that takes unvalidated input: the engine validates it. */
interface UntrustedCaller extends Pick<Caller, Exclude<keyof Caller, "listPets">> {
  listPets(input: unknown): ReturnType<Caller["listPets"]>;
}

/** An admission that takes unvalidated input, too. */
interface UntrustedAdmission extends Pick<Admission, "quota"> {
  createPet(input: unknown, options: CreatePetOptions): ReturnType<Admission["createPet"]>;
}

/** The function that performs each operation. */
export const performers: Readonly<Record<OperationName, (call: Call) => Promise<Performed>>> = {
  listPets,
  createPet,
  getPet,
};

/** Returns the quota and the key of a result; an error has them, too. */
function chargedOf(result: Result<Charged, Charged>): Charged {
  return result.isOk() ? result.value : result.error;
}

/** Refuses a request whose path or method names no operation. It is charged like any other. */
export async function chargeAndRefuse(
  caller: UntrustedCaller,
  known: Known,
  error: ResponseError,
): Promise<Performed> {
  const admitted = await caller.admit();
  known.charged = chargedOf(admitted);
  return err(admitted.isErr() ? admitted.error : { ...error, quota: admitted.value.quota });
}

async function listPets({
  caller,
  known,
  target,
  renderPage,
  settings: { rateLimitHeaders },
}: Call): Promise<Performed> {
  const input = readListQuery(target.query);
  const listed = await caller.listPets(input);
  known.charged = chargedOf(listed);
  if (listed.isErr()) return err(listed.error);
  const { pets, next, quota } = listed.value;
  const link = next === undefined ? {} : { Link: nextLink(input, next) };
  const { success } = operations.listPets;
  return ok(render(success, renderPage(pets), rateLimitHeaders(quota), link));
}

async function createPet({
  caller,
  known,
  request,
  target: { clientPath },
  settings: { maxBodyBytes, rateLimitHeaders },
}: Call): Promise<Performed> {
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
  const { success } = operations.createPet;
  return ok(render(success, renderPet(pet), rateLimitHeaders(quota), headers));
}

async function getPet({
  caller,
  known,
  parameter,
  settings: { rateLimitHeaders },
}: Call): Promise<Performed> {
  const found = await caller.getPet(parameter);
  known.charged = chargedOf(found);
  if (found.isErr()) return err(found.error);
  const { pet, quota } = found.value;
  return ok(render(operations.getPet.success, renderPet(pet), rateLimitHeaders(quota)));
}
