export { createManualClock, type ClientClock, type ManualClientClock } from "./clock.js";
export {
  createPetsClient,
  type CallOptions,
  type CreateCallOptions,
  type PetsClient,
} from "./create-pets-client.js";
export type {
  Aborted,
  TimedOut,
  TransportError,
  Unreachable,
  UnexpectedResponse,
} from "./errors.js";
export type { ClientEvent } from "./events.js";
export type { PetsClientOptions } from "./options.js";
export { pagesOf, petsOf, type PetLister } from "./pages.js";
export type {
  ListPetsInput,
  NewPetInput,
  Pet,
  PetPage,
  Pets,
  PetStatus,
  Quota,
} from "@petstore/core";
