export { createManualClock } from "@petstore/core/facts";
export { createPetsClient } from "./create-pets-client.js";
export type { TransportError } from "./errors.js";
export type { CallOptions, PetsClient } from "./operations.js";
export type { ClientEvent, PetsClientOptions } from "./options.js";
export { pagesOf, petsOf } from "./pages.js";
export type {
  ListPetsInput,
  ManualClock,
  NewPetInput,
  Pet,
  PetPage,
  Pets,
  PetStatus,
} from "@petstore/core";
