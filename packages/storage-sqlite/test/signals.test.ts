import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it, onTestFinished } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, chargeOnce, firstPage, rex } from "../../storage-sql/test/support/samples.js";

it("publishes each transaction with its group and the number of its calls", async () => {
  const storage = await openStorage({ filename: ":memory:" });
  await storage.keys.insert(aKey("a"));
  const signals: unknown[] = [];
  const collect = (signal: unknown) => void signals.push(signal);
  subscribe("petstore:transaction", collect);
  onTestFinished(() => void unsubscribe("petstore:transaction", collect));
  await Promise.all([storage.pets.create(rex), storage.pets.create(rex)]);
  await storage.pets.list(firstPage);
  await chargeOnce(storage, "a");
  const milliseconds = expect.any(Number) as number;
  const rest = { waitMilliseconds: milliseconds, commitMilliseconds: milliseconds, failed: false };
  expect(signals).toEqual([
    { storage: "sqlite", group: "writes", calls: 2, ...rest },
    { storage: "sqlite", group: "reads", calls: 1, ...rest },
    { storage: "sqlite", group: "charges", calls: 1, ...rest },
  ]);
  await storage.close();
});
