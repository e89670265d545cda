import type { Admission, Pet, Quota, WithQuota } from "@petstore/core";
import { err, type Result } from "neverthrow";
import type { HttpRequest } from "./http-message.js";
import { encodePet } from "./json/encode.js";
import { nextReference, readListInput } from "./list-input.js";
import { readNewPetBody } from "./new-pet-body.js";
import type { Place } from "./place.js";
import { NO_FIELDS, renderBody, type Fields, type RenderedBody } from "./render.js";
import type { Operation } from "./route.js";
import type { Failure } from "./status.js";

/** An admission as the network uses it: whatever a client sent, the engine alone judges it. */
export interface UntrustedAdmission extends Pick<Admission, "quota"> {
  listPets(input: unknown): ReturnType<Admission["listPets"]>;
  createPet(input: unknown): ReturnType<Admission["createPet"]>;
  getPet(id: string): ReturnType<Admission["getPet"]>;
}

/** What an operation came to. */
export interface Outcome {
  readonly status: 200 | 201;
  readonly body: RenderedBody;
  readonly quota: Quota;
  readonly fields: Fields;
}

/** What came of it, or why nothing did. */
export type Performed = Result<Outcome, WithQuota<Failure>>;

/** What performing needs beside the request itself. */
export interface Stage {
  readonly maxBodyBytes: number;
  readonly renderPage: (pets: readonly Pet[]) => RenderedBody;
}

/** Performs an operation for an admitted request. */
export function perform(
  operation: Operation,
  admission: UntrustedAdmission,
  request: HttpRequest,
  place: Place,
  { maxBodyBytes, renderPage }: Stage,
): Promise<Performed> {
  switch (operation.kind) {
    case "listPets":
      return listPets(admission, place, renderPage);
    case "createPet":
      return createPet(admission, request, place, maxBodyBytes);
    case "getPet":
      return getPet(admission, operation.petId);
  }
}

async function listPets(
  admission: UntrustedAdmission,
  { query }: Place,
  renderPage: Stage["renderPage"],
): Promise<Performed> {
  const input = readListInput(query);
  const listed = await admission.listPets(input);
  return listed.map(({ pets, next, quota }) => ({
    status: 200,
    body: renderPage(pets),
    quota,
    fields:
      next === undefined ? NO_FIELDS : ["Link", `<${nextReference(input, next)}>; rel="next"`],
  }));
}

async function createPet(
  admission: UntrustedAdmission,
  request: HttpRequest,
  { clientPath }: Place,
  maxBodyBytes: number,
): Promise<Performed> {
  const body = await readNewPetBody(request, maxBodyBytes);
  if (body.isErr()) return err({ ...body.error, quota: admission.quota });
  const created = await admission.createPet(body.value);
  return created.map(({ pet, quota }) => ({
    status: 201,
    body: renderBody(encodePet(pet)),
    quota,
    fields: ["Location", `${clientPath}/${pet.id}`],
  }));
}

async function getPet(admission: UntrustedAdmission, petId: string): Promise<Performed> {
  const found = await admission.getPet(petId);
  return found.map(({ pet, quota }) => ({
    status: 200,
    body: renderBody(encodePet(pet)),
    quota,
    fields: NO_FIELDS,
  }));
}
