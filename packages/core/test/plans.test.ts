import { expect, it, vi } from "vitest";
import type { BanOptions, Plan } from "@petstore/core";
import { admitted, MINUTE, openStore, ownLimits, rex, value } from "./support/open-store.js";

const limits = { perMinute: 3, perDay: 7 };

it.each(["constructor", "prototype"])("a plan may be called %s; it is frozen", async (plan) => {
  const { store, issue } = openStore({ plans: { [plan]: limits } });
  expect(Object.hasOwn(store.plans, plan) && Object.isFrozen(store.plans[plan])).toBe(true);
  expect(await admitted((await issue({ plan })).caller)).toBe(limits.perMinute);
});

const earlier = { perMinute: 2, perDay: 5 };
it.each([
  ["has changed binds its keys with the new limits", { trial: limits }, limits, "has other"],
  ["does not know binds its keys with those of their issue", {}, earlier, "is unknown"],
  ["has with the same limits binds its keys with them", { trial: { ...earlier } }, earlier],
])(
  "a plan that the host %s; it warns once, if they differ",
  async (_, plans, expected, problem?) => {
    const { storage, issue } = openStore({ plans: { trial: earlier } });
    const { id, secret } = await issue({ plan: "trial" });
    const { store } = openStore({ storage, plans });
    const warnings: unknown[] = [];
    store.events.on("storage_warning", (event) => warnings.push(event));
    expect(value(await store.keys.find(id)).limits).toEqual(expected);
    expect(await admitted(store.as(secret), 5)).toBe(expected.perMinute);
    await store.close();
    const message: unknown = expect.stringContaining(`The plan "trial" ${problem ?? ""}`);
    expect(warnings).toMatchObject(problem ? [{ code: "plan_differs", message }] : []);
  },
);

it("callers without a key have the host's own Free limits, or the standard ones if each key has its own", () => {
  const limitOf = (free: Plan) => openStore({ plans: { free } }).store.anonymousQuota().limit;
  expect([limitOf({ perMinute: 5, perDay: 50 }), limitOf("custom")]).toEqual([5, 60]);
});

it.each<[string, BanOptions | false, number[]]>([
  ["a key that is never banned", false, [0, 0, 0, 0]],
  ["requests under way", {}, [0, 0, 0, 0, 0]],
  ["a ban", { graceSeconds: 0 }, Array<number>(8).fill(0)],
  ["an unused minute", false, [0, 0, 0, MINUTE, 1]],
])("a refusal is stored only if it changes the usage: %s", async (_, ban, waits) => {
  const { storage, clock, issue } = openStore({ ban });
  const isStored: boolean[] = [];
  const charge = storage.usage.charge.bind(storage.usage);
  vi.spyOn(storage.usage, "charge").mockImplementation((digest, decide) =>
    charge(digest, (presented) => {
      const decided = decide(presented);
      isStored.push(decided.next !== presented?.usage);
      return decided;
    }),
  );
  const { caller } = await issue(ownLimits(3, 3));
  for (const wait of waits) {
    clock.advance(wait);
    await caller.admit();
  }
  expect(isStored).toEqual(waits.map((__, index) => index < waits.length - 1));
});

it("an admission is charged once, also if several operations are performed on it", async () => {
  const { store, issue } = openStore();
  const { id, caller } = await issue();
  const admission = value(await caller.admit());
  const { pet } = value(await admission.createPet(rex));
  expect(value(await admission.getPet(pet.id)).pet).toEqual(pet);
  expect(value(await admission.listPets())).toMatchObject({
    ...{ pets: [pet], keyId: id, plan: "free", quota: { remaining: 59 } },
  });
  expect(value(await store.keys.find(id)).usage.minute.remaining).toBe(59);
});
