import { createHash } from "node:crypto";
import {
  createMemoryStorage,
  NO_USAGE,
  type ApiKeySecret,
  type KeyHolder,
  type KeyWithUsage,
  type Storage,
  type StoredApiKey,
} from "@petstore/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { many, seed } from "../../../scripts/soak.js";

const HISTORIES = many(60, 2_000);

/** What a history does, with numbers that pick among what there is by then and fill the fields. */
interface Step {
  readonly kind: "issue" | "rotate" | "replace" | "use";
  readonly which: number;
  readonly value: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("issue", "issue", "issue", "rotate", "replace", "use"),
  which: fc.nat(),
  value: fc.nat(),
});
const histories = fc.array(step, { minLength: 1, maxLength: 900, size: "max" });

it(
  `keys in memory are as in a plain map, in ${String(HISTORIES)} histories`,
  { timeout: many(20_000, 300_000) },
  async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const storage = createMemoryStorage();
        const model = new Map<string, KeyWithUsage>();
        const gone: string[] = [];
        for (const [number, each] of history.entries()) {
          gone.push(...(await takeStep(each, number, storage, model)));
        }
        await expectSame(storage, model, gone);
      }),
      { seed, numRuns: HISTORIES },
    );
  },
);

describe("a key that is not as the port says", () => {
  const one = keyOf("k1", 1, [secretOf(1, 1), secretOf(2, 2)]);
  const other = keyOf("k2", 2, [secretOf(3, 3)]);

  it.each<readonly [string, StoredApiKey]>([
    ["an id that is taken", keyOf("k1", 5, [secretOf(4, 4)])],
    ["a digest that is taken", keyOf("k0", 5, [secretOf(4, 4), secretOf(2, 2)])],
    ["a digest that the key before it has", keyOf("k0", 5, [secretOf(4, 4), secretOf(3, 3)])],
    ["the same digest twice", keyOf("k0", 5, [secretOf(4, 4), secretOf(4, 4)])],
    ["no secrets", { ...other, id: "k0", secrets: JSON.parse("null") as [] }],
  ])("is not inserted with %s, and nothing is changed", async (_, key) => {
    const storage = createMemoryStorage();
    for (const each of [one, other]) await storage.keys.insert(each);
    const inserted = await storage.keys.insert(key);
    expect(inserted._unsafeUnwrapErr().cause).toBeInstanceOf(Error);
    const model = new Map([one, other].map((each) => [each.id, { key: each, usage: NO_USAGE }]));
    await expectSame(storage, model, [secretOf(4, 4).digest]);
  });

  it("is not made of another by an update, and nothing is changed", async () => {
    const storage = createMemoryStorage();
    for (const each of [one, other]) await storage.keys.insert(each);
    const updated = await storage.keys.update("k2", (key) => ({
      next: key && { ...key, plan: "other", secrets: [secretOf(4, 4), secretOf(1, 1)] },
      result: undefined,
    }));
    expect(updated.isErr()).toBe(true);
    const model = new Map([one, other].map((each) => [each.id, { key: each, usage: NO_USAGE }]));
    await expectSame(storage, model, [secretOf(4, 4).digest]);
  });
});

/** Takes a step in both, and answers with the digests that no key has any longer. */
async function takeStep(
  { kind, which, value }: Step,
  number: number,
  { keys, usage }: Storage,
  model: Map<string, KeyWithUsage>,
): Promise<readonly string[]> {
  const ids = [...model.keys()];
  const shown = model.get(ids[which % ids.length] ?? "");
  if (kind === "issue" || shown === undefined) {
    // Most ids ascend; some sort before all others.
    const id = which % 4 === 0 ? `a${String(9_000 - number)}` : `k${String(1_000 + number)}`;
    const key = keyOf(id, value, [secretOf(number, value)]);
    model.set(id, { key, usage: NO_USAGE });
    await keys.insert(key);
    return [];
  }
  const { id, secrets } = shown.key;
  if (kind === "use") {
    const { digest, expiresAt } = pick(secrets, value);
    const next = { ...shown.usage, minuteUsed: number, bans: value % 2, lastUsedAt: value };
    const told = await usage.charge(digest, (holder) => ({ next, result: holder }));
    expect(told._unsafeUnwrap()).toEqual(holderOf(shown, expiresAt));
    model.set(id, { key: shown.key, usage: next });
    return [];
  }
  const kept = kind === "rotate" ? secrets : [];
  const next = keyOf(id, value, [secretOf(number, value), ...kept]);
  const told = await keys.update(id, (before) => ({ next, result: before }));
  expect(told._unsafeUnwrap()).toEqual(shown.key);
  model.set(id, { key: next, usage: shown.usage });
  return kind === "rotate" ? [] : secrets.map(({ digest }) => digest);
}

async function expectSame(
  { keys, usage }: Storage,
  model: ReadonlyMap<string, KeyWithUsage>,
  gone: readonly string[],
): Promise<void> {
  const inOrder = [...model.values()].sort((one, other) => (one.key.id < other.key.id ? -1 : 1));
  const all = await keys.list({ limit: 1_000, after: undefined, banned: false });
  expect(all._unsafeUnwrap()).toEqual(inOrder);

  const after = pick(inOrder, inOrder.length >> 1).key.id;
  const page = await keys.list({ limit: 3, after, banned: true });
  const banned = inOrder.filter((each) => each.key.id > after && each.usage.bans > 0);
  expect(page._unsafeUnwrap()).toEqual(banned.slice(0, 3));

  const holderBy = async (digest: string): Promise<KeyHolder | undefined> =>
    (await usage.charge(digest, (holder) => ({ result: holder })))._unsafeUnwrap();
  for (const each of inOrder) {
    expect((await keys.find(each.key.id))._unsafeUnwrap()).toEqual(each);
    for (const { digest, expiresAt } of each.key.secrets) {
      expect(await holderBy(digest)).toEqual(holderOf(each, expiresAt));
    }
  }
  for (const digest of gone) expect(await holderBy(digest)).toBeUndefined();
}

function holderOf({ key, usage }: KeyWithUsage, secretExpiresAt: number | undefined): KeyHolder {
  const { id, plan, limits, expiresAt, revokedAt } = key;
  return { key: { id, plan, limits, expiresAt, revokedAt }, secretExpiresAt, usage };
}

/** A key in which every field depends on the value; what may be missing sometimes is, or is 0. */
function keyOf(id: string, value: number, secrets: readonly ApiKeySecret[]): StoredApiKey {
  return {
    id,
    plan: value % 2 === 0 ? "free" : "pro",
    limits: { perMinute: 1 + (value % 100), perDay: 1_000 },
    label: value % 3 === 0 ? undefined : `label ${String(value)}`,
    createdAt: value,
    expiresAt: value % 5 === 0 ? value + 1 : undefined,
    revokedAt: value % 7 === 0 ? 0 : undefined,
    secrets,
  };
}

/** A secret of its own for each number; the digests of some end alike. */
function secretOf(number: number, value: number): ApiKeySecret {
  const whole = createHash("sha256").update(String(number)).digest("base64url");
  const digest = number % 3 === 0 ? `${whole}${"=".repeat(16)}` : whole;
  return { digest, hint: `hint ${String(number)}`, expiresAt: value % 2 === 0 ? value : undefined };
}

function pick<T>(from: readonly T[], number: number): T {
  const picked = from[number % from.length];
  if (picked === undefined) throw new Error("There is nothing to pick from.");
  return picked;
}
