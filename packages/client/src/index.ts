export { createManualClock } from "@petstore/core/facts";
export { createPetsClient } from "./create-pets-client.js";
export type { TransportError } from "./errors.js";
export { pagesOf, petsOf, type CallOptions, type PetsClient } from "./operations.js";
export type { ClientEvent, PetsClientOptions } from "./options.js";
export type {
  ListPetsInput,
  ManualClock,
  NewPetInput,
  Pet,
  PetPage,
  Pets,
  PetStatus,
} from "@petstore/core";
