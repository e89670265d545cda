import type { Admission, Charged, Pet, PetPage, PetResult, WithQuota } from "@petstore/core";
import { err, type Result } from "neverthrow";
import type { HttpRequest } from "./http-message.js";
import { encodePet } from "./json/encode.js";
import { nextReference, readListInput } from "./list-input.js";
import { readNewPetBody } from "./new-pet-body.js";
import type { Place } from "./place.js";
import { NO_FIELDS, renderBody, type Content, type RenderedBody } from "./render.js";
import type { Operation } from "./route.js";
import type { Failure } from "./status.js";

/** An admission as the network uses it: whatever a client sent, the engine alone judges it. */
export interface UntrustedAdmission extends Pick<Admission, "quota"> {
  listPets(input: unknown): ReturnType<Admission["listPets"]>;
  createPet(input: unknown): ReturnType<Admission["createPet"]>;
  getPet(id: string): ReturnType<Admission["getPet"]>;
}

/** What an operation came to. */
export interface Outcome extends Content {
  readonly status: 200 | 201;
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
): PromiseLike<Performed> {
  switch (operation.kind) {
    case "listPets":
      return listPets(admission, place, renderPage);
    case "createPet":
      return createPet(admission, request, place, maxBodyBytes);
    case "getPet":
      return getPet(admission, operation.petId);
  }
}

function listPets(
  admission: UntrustedAdmission,
  { query }: Place,
  renderPage: Stage["renderPage"],
): PromiseLike<Performed> {
  const input = readListInput(query);
  const toOutcome = ({ pets, next, quota }: PetPage & Charged): Outcome => ({
    status: 200,
    body: renderPage(pets),
    quota,
    fields:
      next === undefined ? NO_FIELDS : ["Link", `<${nextReference(input, next)}>; rel="next"`],
  });
  return admission.listPets(input).then((listed) => listed.map(toOutcome));
}

function createPet(
  admission: UntrustedAdmission,
  request: HttpRequest,
  { clientPath }: Place,
  maxBodyBytes: number,
): PromiseLike<Performed> {
  const toOutcome = ({ pet, quota }: PetResult & Charged): Outcome => ({
    status: 201,
    body: renderBody(encodePet(pet)),
    quota,
    fields: ["Location", `${clientPath}/${pet.id}`],
  });
  return readNewPetBody(request, maxBodyBytes).then((body) =>
    body.isErr()
      ? err({ ...body.error, quota: admission.quota })
      : admission.createPet(body.value).then((created) => created.map(toOutcome)),
  );
}

function getPet(admission: UntrustedAdmission, petId: string): PromiseLike<Performed> {
  return admission.getPet(petId).then((found) => found.map(toFound));
}

function toFound({ pet, quota }: PetResult & Charged): Outcome {
  return { status: 200, body: renderBody(encodePet(pet)), quota, fields: NO_FIELDS };
}
