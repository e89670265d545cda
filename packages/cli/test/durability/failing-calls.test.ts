import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import { openSqliteStorage, type SqliteDatabase } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { errAsync, ResultAsync } from "neverthrow";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { serveInProcess, unlimitedKeyOf } from "../support/in-process.js";
import { watchRejections } from "../support/unhandled-rejections.js";

/** Counts calls, and has one of them fail. */
interface Fuse {
  /** The number of the call that fails, from 1; 0 if no call fails. */
  blowAt: number;
  calls: number;
}

type Fail = () => ResultAsync<never, { readonly message: string; readonly cause: unknown }>;
const boom = new Error("boom");
const ways: readonly (readonly [string, Fail])[] = [
  ["returns a failure", () => errAsync(storageFailure("boom", boom))],
  [
    "throws",
    () => {
      throw boom;
    },
  ],
  ["rejects", () => new ResultAsync(Promise.reject(boom))],
];

/** Counts every call of every function of an object, and replaces one call by `fail`. */
function fused<T extends object>(real: T, fuse: Fuse, fail: () => unknown): T {
  return new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]): unknown => {
        fuse.calls += 1;
        if (fuse.calls === fuse.blowAt) return fail();
        return Reflect.apply(member, target, args);
      };
    },
  });
}

function fusedStorage(storage: Storage, fuse: Fuse, fail: Fail): Storage {
  return {
    pets: fused(storage.pets, fuse, fail),
    keys: fused(storage.keys, fuse, fail),
    usage: fused(storage.usage, fuse, fail),
    close: () => storage.close(),
  };
}

/** The status that a step must get, and the one that it may get when a call in it fails. */
interface Step {
  readonly path: string;
  readonly body?: string;
  readonly good: number;
}

const steps: readonly Step[] = [
  { path: "/pets", body: '{"name":"one","categoryId":1}', good: 201 },
  { path: "/pets?limit=2", good: 200 },
  { path: "/pets", body: '{"name":"two","categoryId":2}', good: 201 },
  { path: "/pets/1", good: 200 },
  { path: "/pets?status=available&limit=1", good: 200 },
  { path: "/pets/999", good: 404 },
  { path: "/pets", body: "{}", good: 400 },
  { path: "/pets?limit=2", good: 200 },
];

const rejections = watchRejections();
/** Every which call fails: each of them in CI. */
const STRIDE = sized(5, 1, 1);

async function ask(url: string, secret: string, { path, body }: Step): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
}

/**
 * Takes every step, with the n-th call after the start failing. Resolves to the number of calls.
 * @param mayRepeat whether the storage may itself repeat a call that fails, so that nobody notices.
 */
async function takeSteps(
  storage: Storage,
  fuse: Fuse,
  blowAt: number,
  mayRepeat: boolean,
): Promise<number> {
  const { url, store } = await serveInProcess(storage);
  const secret = await unlimitedKeyOf(store);
  fuse.calls = 0;
  fuse.blowAt = blowAt;
  const added: unknown[] = [];
  let failures = 0;
  for (const step of steps) {
    const response = await ask(url, secret, step);
    const text = await response.text();
    if (response.status === 201) added.push(JSON.parse(text));
    if (response.status === 503) {
      failures += 1;
      const failure = { code: "storage_unavailable", status: 503 };
      expect(JSON.parse(text)).toMatchObject(failure);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      // A call that failed once succeeds when it is repeated.
      const again = await ask(url, secret, step);
      expect(again.status).toBe(step.path === "/pets/1" && added.length === 0 ? 404 : step.good);
      if (again.status === 201) added.push(await again.json());
    } else expect(response.status).toBe(step.good);
  }
  const { calls } = fuse;
  fuse.blowAt = 0;
  const most = blowAt > 0 && calls >= blowAt ? 1 : 0;
  if (mayRepeat) expect(failures).toBeLessThanOrEqual(most);
  else expect(failures).toBe(most);
  const listed = await ask(url, secret, { path: "/pets?limit=100", good: 200 });
  expect(await listed.json()).toEqual(added);
  expect(added).toHaveLength(2);
  await store.close();
  return calls;
}

/** Takes the steps once without a failure, and then with a failure of every `stride`-th call. */
async function failEach(stride: number, take: (blowAt: number) => Promise<number>): Promise<void> {
  const calls = await take(0);
  expect(calls).toBeGreaterThan(steps.length);
  for (let call = 1; call <= calls; call += stride) await take(call);
  expect(rejections).toEqual([]);
}

it.each(ways)(
  "a storage call that %s, whichever it is, is a 503 and nothing else",
  async (_, fail) => {
    const fuse: Fuse = { blowAt: 0, calls: 0 };
    await failEach(STRIDE, (call) =>
      takeSteps(fusedStorage(createMemoryStorage(), fuse, fail), fuse, call, false),
    );
  },
);

it("an SQLite statement that fails, whichever it is, is a 503 or is repeated, and nothing else", async () => {
  const fuse: Fuse = { blowAt: 0, calls: 0 };
  const fail = (): never => {
    throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_WRITE");
  };
  const open = async (): Promise<Storage> => {
    const real = new Database(":memory:");
    const database: SqliteDatabase = {
      get open() {
        return real.open;
      },
      get inTransaction() {
        return real.inTransaction;
      },
      exec: (source) => real.exec(source),
      pragma: (source, options) => real.pragma(source, options),
      prepare: (source) => fused(real.prepare(source), fuse, fail) as never,
    };
    return (await openSqliteStorage({ database }))._unsafeUnwrap();
  };
  await failEach(STRIDE, async (call) => {
    fuse.blowAt = 0;
    return takeSteps(await open(), fuse, call, true);
  });
});
