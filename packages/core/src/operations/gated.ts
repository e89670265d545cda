import { storeClosed } from "../errors.js";
import type { KeyRing } from "../keys/key-ring.js";
import type { TrustedPets } from "../pet-store.js";
import type { Gate } from "./gate.js";

/** The operations for as long as the store is open. */
export function gatedPets(pets: TrustedPets, gate: Gate): TrustedPets {
  return Object.freeze({
    listPets: (input) => gate.pass(() => pets.listPets(input), storeClosed),
    createPet: (input) => gate.pass(() => pets.createPet(input), storeClosed),
    getPet: (id) => gate.pass(() => pets.getPet(id), storeClosed),
  } satisfies TrustedPets);
}

/** The key ring for as long as the store is open. */
export function gatedKeyRing(keys: KeyRing, gate: Gate): KeyRing {
  return Object.freeze({
    issue: (input) => gate.pass(() => keys.issue(input), storeClosed),
    find: (id) => gate.pass(() => keys.find(id), storeClosed),
    list: (input) => gate.pass(() => keys.list(input), storeClosed),
    revoke: (id) => gate.pass(() => keys.revoke(id), storeClosed),
    rotate: (id, options) => gate.pass(() => keys.rotate(id, options), storeClosed),
    changePlan: (id, to) => gate.pass(() => keys.changePlan(id, to), storeClosed),
    liftBan: (id) => gate.pass(() => keys.liftBan(id), storeClosed),
    usage: (id) => gate.pass(() => keys.usage(id), storeClosed),
  } satisfies KeyRing);
}
