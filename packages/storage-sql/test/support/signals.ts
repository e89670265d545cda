import type { Storage } from "@petstore/core/storage";
import { expect } from "vitest";
import { collect } from "../../../core/test/support/open-store.js";
import { aKey, chargeOnce, firstPage, rex } from "./samples.js";

export async function expectSignals(storage: Storage, name: "sqlite" | "postgres"): Promise<void> {
  (await storage.keys.insert(aKey("signals")))._unsafeUnwrap();
  const signals = collect("petstore:transaction");
  await Promise.all([storage.pets.create(rex), storage.pets.create(rex)]);
  await storage.pets.list(firstPage);
  await storage.pets.find(1n);
  await chargeOnce(storage, "signals");
  const kind = { storage: name, failed: false };
  const groups = { writes: 2, reads: 1, charges: 1 };
  const all = ["writes", "reads", "reads", "charges"] as const;
  expect(signals).toMatchObject(all.map((group) => ({ ...kind, group, calls: groups[group] })));
}
