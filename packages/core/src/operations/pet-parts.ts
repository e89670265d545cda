import type { Tell } from "../events/events.js";
import type { Timekeeper } from "../limits/reading.js";
import type { PetStorage } from "../storage/pet-storage.js";

/** What the operations on pets work with. */
export interface PetParts {
  /** As the host gave it: whatever it throws is answered. */
  readonly pets: PetStorage;
  readonly tell: Tell;
  readonly read: Timekeeper;
}
