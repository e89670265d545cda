import type { ResultAsync } from "neverthrow";
import { storeClosed, type StoreClosed } from "../errors.js";
import type { KeyRing } from "../keys/key-ring.js";
import { asIs, type Gate } from "./gate.js";

/** The key ring for as long as the store is open. */
export function createGatedKeys(keys: KeyRing, gate: Gate): KeyRing {
  const pass = <T, E>(call: () => ResultAsync<T, E>): ResultAsync<T, E | StoreClosed> =>
    gate.pass(async () => call(), storeClosed, asIs);
  return Object.freeze({
    issue: (input) => pass(() => keys.issue(input)),
    find: (id) => pass(() => keys.find(id)),
    list: (input) => pass(() => keys.list(input)),
    revoke: (id) => pass(() => keys.revoke(id)),
    rotate: (id, options) => pass(() => keys.rotate(id, options)),
    changePlan: (id, to) => pass(() => keys.changePlan(id, to)),
    liftBan: (id) => pass(() => keys.liftBan(id)),
    usage: (id) => pass(() => keys.usage(id)),
  } satisfies KeyRing);
}
