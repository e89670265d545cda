import { createConsole, type ConsoleEvent, type ConsoleOptions } from "@petstore/console";
import { createManualClock, createMemoryStorage, createPetStore } from "@petstore/core";
import type { IssueKeyInput, PetStoreOptions } from "@petstore/core";
import { NO_USAGE, storageError, type KeyQuery } from "@petstore/core/storage";
import { inspect } from "node:util";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { err } from "neverthrow";
import { expect, it, vi } from "vitest";
import { fakeTimers } from "../../../scripts/fake-timers.js";
import { aKey } from "../../storage-sql/test/support/samples.js";
import type { Input } from "../src/inputs.js";
import type { CallName, ErrorBody, KeyList, Output } from "../src/protocol.js";

const NOW = Date.UTC(2026, 10, 24, 12);
const DAY = 86_400_000;
const ALL: Input<"keys/list"> = { search: "", order: "newest", page: 0 };
const ORIGIN = "http://shop.example";

/** A console over a new store in memory, and functions that call it as its page does. */
function setUp(options: ConsoleOptions = {}, storeOptions: PetStoreOptions = {}) {
  const clock = createManualClock(NOW);
  const onEvent = vi.fn<(event: ConsoleEvent) => void>();
  const onError = vi.fn();
  const store = createPetStore({ clock, ...storeOptions });
  const handle = createConsole(store, { actor: "anna", onEvent, onError, ...options });
  const send = (path: string, init: RequestInit = {}) => handle(new Request(ORIGIN + path, init));
  /** Sends a call with other headers; an empty one is left out. */
  const post = (name: string, body: unknown, headers: Record<string, string> = {}) => {
    const all = { Origin: ORIGIN, "Content-Type": "application/json", ...headers };
    return send(`/console/api/${name}`, {
      method: "POST",
      headers: Object.entries(all).filter(([, text]) => text !== ""),
      body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  };
  const call = async <Name extends CallName>(name: Name, input: Input<Name>, headers = {}) =>
    (await post(name, input, headers)).json() as Promise<Output<Name>>;
  const issue = async (label: string, input: Partial<IssueKeyInput> = {}) =>
    (await store.keys.issue({ plan: "free", label, ...input }))._unsafeUnwrap();
  const list = (query: Partial<Input<"keys/list">> = {}) => call("keys/list", { ...ALL, ...query });
  const stored = async () => (await store.keys.list())._unsafeUnwrap().keys;
  return { clock, store, onEvent, onError, send, post, call, issue, list, stored };
}

const keyed = (key: string) => ({ "Idempotency-Key": key });

const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": expect.stringMatching(/-src 'none'.*ancestors 'none'/) as string,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

async function expectError(response: Response, status: number): Promise<void> {
  const error = (await response.json()) as ErrorBody;
  expect([response.status, error.status]).toEqual([status, status]);
  expect(Object.keys(error)).toEqual(["code", "message", "status"]);
  expect(error.code).toMatch(/^[a-z_]+$/);
  expect(error.message).toMatch(/^\w.*(\w\.$|: )/);
  const headers = { ...HEADERS, "content-type": "application/json" };
  expect(Object.fromEntries(response.headers)).toMatchObject(headers);
}

const labels = ({ keys }: KeyList) => keys.map(({ label }) => label);

it("the page has files of its own, at most 60 KB compressed, which no page can frame", async () => {
  const { send } = setUp();
  let size = 0;
  for (const [name, type] of [
    ["", "text/html; charset=utf-8"],
    ["main.js", "text/javascript; charset=utf-8"],
    ["console.css", "text/css; charset=utf-8"],
    ["icon.svg", "image/svg+xml"],
  ]) {
    const path = `/console/${name}`;
    const response = await send(path);
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({ ...HEADERS, "content-type": type });
    expect(headers["content-security-policy"]).not.toContain("unsafe");
    const text = await response.text();
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org\/)/);
    size += gzipSync(text).length;
    const head = await send(path, { method: "HEAD" });
    expect([head.status, await head.text(), text === ""]).toEqual([200, "", false]);
    const refused = await send(path, { method: "POST" });
    expect(refused.headers.get("Allow")).toBe("GET, HEAD");
    await expectError(refused, 405);
  }
  expect(size).toBeLessThan(60_000);
});

it("the page is found without the slash, and nowhere else", async () => {
  const { send } = setUp({ basePath: "/admin/keys/" });
  const { status, headers } = await send("/admin/keys");
  expect(status).toBe(308);
  expect(Object.fromEntries(headers)).toMatchObject({ ...HEADERS, location: "keys/" });
  for (const path of ["/", "/admin/", "/admin/keys/x", "/admin/keys/api/", "/admin/keysx"])
    await expectError(await send(path), 404);
});

it.each([
  ["basePath", { basePath: "/a?b" }],
  ["onEvent", { onEvent: 1 }],
  ["users", { users: [] }],
  ["; option baseUrl must", { basePath: "console", baseUrl: "here" }],
])("the option %s of %j is refused", (name, options) => {
  expect(() => createConsole(createPetStore(), options as ConsoleOptions)).toThrow(name);
});

it("a call changes nothing by GET", async () => {
  const { send, issue, stored } = setUp();
  const path = `/console/api/keys/revoke?id=${(await issue("acme")).key.id}`;
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
    const response = await send(path, { method, headers: { Origin: ORIGIN } });
    expect([response.status, response.headers.get("Allow")]).toEqual([405, "POST"]);
  }
  expect((await stored())[0]?.revokedAt).toBeUndefined();
});

it.each<[string, Record<string, string>, number]>([
  ["another origin", { Origin: "http://evil.example" }, 403],
  ["no origin that the browser names", { Origin: "null" }, 403],
  ["no origin", { Origin: "" }, 403],
  ["a page of the same site", { "Sec-Fetch-Site": "same-site" }, 403],
  ["a page of another site", { "Sec-Fetch-Site": "cross-site" }, 403],
  ["a form", { "Content-Type": "text/plain" }, 415],
  ["a form of another type", { "Content-Type": "application/jsonp" }, 415],
  ["a form whose type ends like it", { "Content-Type": "text/plain;application/json" }, 415],
  ["the page itself", { "Sec-Fetch-Site": "same-origin" }, 200],
  ["the page behind TLS", { Origin: "https://shop.example" }, 200],
])("a call from %s gets its status", async (_, headers, status) => {
  const { post, stored } = setUp();
  const response = await post("keys/issue", { plan: "free" }, headers);
  if (status === 200) expect(response.status).toBe(status);
  else await expectError(response, status);
  expect(await stored()).toHaveLength(status === 200 ? 1 : 0);
});

it.each([
  ["keys/issue", "{", 400],
  ["keys/issue", "5", 400],
  ["keys/issue", Buffer.from('{"plan":"free","label":"\xff"}', "latin1"), 400],
  ["keys/issue", `{"plan":"free"${" ".repeat(65_522)}}`, 400],
  ["keys/issue", '{"plan":"gold"}', 400],
  ["keys/issue", '{"plan":"free","expiresAt":null}', 400],
  ["keys/issue", '{"__proto__":{"plan":"free"}}', 400],
  ["keys/find", "{}", 400],
  ["keys/find", '{"id":"key_x"}', 404],
  ["keys/rotate", '{"id":"key_x","overlapSeconds":-1}', 400],
  ["keys/list", '{"search":"","order":"worst","page":0}', 400],
  ["keys/list", '{"search":"","order":"newest","page":-1}', 400],
  ["keys/find-by-secret", '{"secret":"pet_live_x"}', 404],
  ["pets/add", '{"name":"Rex","categoryId":"9223372036854775808","status":"sold"}', 400],
  ["pets/list", '{"limit":101}', 400],
  ["pets/list", '{"limit":5,"after":"-9223372036854775809"}', 400],
  ["keys/purge", "{}", 404],
  ["__proto__", "{}", 404],
])("%s with %s is refused with a message", async (name, body, status) => {
  const { post, onEvent, onError } = setUp();
  await expectError(await post(name, body), status);
  for (const listener of [onEvent, onError]) expect(listener).not.toHaveBeenCalled();
});

it("a call may have a body of 64 KiB, in chunks that cut characters", async () => {
  const { send } = setUp();
  const label = '{"plan":"free","label":"é"';
  const bytes = Buffer.from(`${label}${" ".repeat(65_534 - label.length)}}`);
  const at = bytes.indexOf("é") + 1;
  const body = ReadableStream.from([bytes.subarray(0, at), bytes.subarray(at)]);
  const headers = { Origin: ORIGIN, "Content-Type": "application/json" };
  const sent = { method: "POST", headers, body, duplex: "half" } as const;
  const response = await send("/console/api/keys/issue", sent);
  expect(await response.json()).toMatchObject({ key: { label: "é" } });
  expect(bytes).toHaveLength(65_536);
});

it.each(["list", "find"])("the storage fails (%s): 503; the host sees why", async (name) => {
  const storage = createMemoryStorage();
  const failure = err(storageError("no /secret/path"));
  const { post, onError, issue } = setUp({}, { storage });
  await issue("acme");
  Object.assign(storage.keys, { [name]: () => Promise.resolve(failure) });
  const response = await post("keys/list", ALL);
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain("/secret/path");
  expect(onError.mock.calls).toMatchObject([[{ message: "no /secret/path" }]]);
});

it("an action is reported with the name of who did it, shows a secret only where it is made, and is found at once", async () => {
  const actor = ({ headers }: Request) => headers.get("Origin") ?? "nobody";
  const storage = createMemoryStorage();
  const { call, list, onEvent } = setUp({ actor }, { storage });
  const { key, secret } = await call("keys/issue", { plan: "free", label: "acme" });
  const { id } = key;
  await call("keys/lift-ban", { id });
  const next = { ...NO_USAGE, bans: 1, bannedAt: NOW };
  await storage.usage.update(id, () => ({ next, result: 0 }));
  const found = async (query: Parameters<typeof list>[0]) => (await list(query)).matching;
  const rotated = await call("keys/rotate", { id, overlapSeconds: 60 });
  expect([rotated.secret === secret, await found({ state: "replaced" })]).toEqual([false, 1]);
  const ended = await call("keys/end-secret", { id, hint: secret.slice(0, 13) });
  expect(ended.key.secrets).toEqual([{ hint: rotated.key.hint, name: "current" }]);
  expect(await found({ state: "replaced" })).toBe(0);
  const pet = { name: "Rex", categoryId: "-9223372036854775808", status: "sold" } as const;
  const limit = (perDay: number) =>
    call("keys/change-plan", { id, plan: "enterprise", limits: { perMinute: 1, perDay } });
  const outcomes = [
    ...[await limit(8), await limit(9), await limit(9)],
    ...[await list({ plan: "enterprise", state: "banned" }), await call("keys/lift-ban", { id })],
    ...[await list({ state: "active" }), await call("keys/revoke", { id })],
    await call("keys/revoke", { id }),
    await call("pets/add", pet),
    ...[await list({ state: "revoked" }), await call("keys/find", { id })],
    await call("keys/find-by-secret", { secret }),
  ];
  expect(outcomes.flatMap((each) => ("matching" in each ? each.matching : []))).toEqual([1, 1, 1]);
  const types =
    "key_issued key_rotated secret_ended plan_changed plan_changed ban_lifted key_revoked pet_created";
  const events = onEvent.mock.calls.map(([event]) => event);
  expect(events).toMatchObject(types.split(" ").map((type) => ({ type, actor: ORIGIN, at: NOW })));
  expect(inspect([events, outcomes], { depth: 9 })).not.toMatch(/pet_live_\w{5}|digest/);
  expect(await call("pets/list", { limit: 1 })).toMatchObject({ pets: [pet] });
});

const made = (body: unknown) => (body as Output<"keys/issue">).secret;
const key = "0123456789abcdef";
const once = keyed(key);

it.each([
  ["keys/issue", { plan: "free" }],
  ["keys/rotate", { overlapSeconds: 0 }],
  ["pets/add", { name: "Rex", categoryId: "7", status: "sold" }],
] as const)("%s is done once for an idempotency key, also at once", async (name, input) => {
  const { post, issue, onEvent } = setUp();
  const { id } = (await issue("acme")).key;
  const send = async (body: object, headers = once) =>
    (await post(name, { id, ...body }, headers)).json();
  const [first, second] = await Promise.all([send(input), send(input)]);
  expect([second, await send(input)]).toEqual([first, first]);
  expect(onEvent).toHaveBeenCalledTimes(1);
  const other = { ...input, plan: "pro", overlapSeconds: 1, name: "Mimi" };
  expect(await send(other)).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  expect(await send(input, keyed("an other"))).toMatchObject({ status: 400 });
  expect(await send(input, keyed("other"))).not.toEqual(first);
  expect(onEvent).toHaveBeenCalledTimes(2);
});

it("a pet is added once for an idempotency key, also by a console that was started again", async () => {
  const storage = createMemoryStorage();
  const pet = { name: "Rex", categoryId: "7", status: "sold" } as const;
  const onEvent = vi.fn();
  const add = () => setUp({ onEvent }, { storage }).call("pets/add", pet, once);
  expect((await add()).pet).toEqual((await add()).pet);
  expect(onEvent).toHaveBeenCalledTimes(1);
});

it("an action that the storage failed is done once when it is sent again; one that was refused is refused again", async () => {
  fakeTimers("setTimeout");
  const storage = createMemoryStorage();
  const insert = storage.keys.insert.bind(storage.keys);
  const { post, stored } = setUp({}, { storage });
  const failing = () => Promise.resolve(err(storageError("no disk")));
  const statusOf = async (insertKey: typeof insert, plan = "free") => {
    Object.assign(storage.keys, { insert: insertKey });
    return (await post("keys/issue", { plan }, keyed(plan))).status;
  };
  for (const stores of [failing, insert, insert]) {
    expect(await statusOf(stores)).toBe(stores === failing ? 503 : 200);
    vi.advanceTimersByTime(1_800_000);
  }
  expect(await stored()).toHaveLength(1);
  expect([await statusOf(failing, "gold"), await statusOf(insert, "gold")]).toEqual([400, 400]);
  expect((await post("keys/issue", { plan: "pro" }, keyed("gold"))).status).toBe(422);
  const losing: typeof insert = async (added) => {
    await insert(added);
    return err({ ...storageError("lost"), mayBeStored: true });
  };
  expect([await statusOf(losing, "pro"), await statusOf(insert, "pro")]).toEqual([503, 409]);
  expect(await stored()).toHaveLength(2);
});

it("an action that made a secret can be recovered by its actor, until the secret is taken or for an hour", async () => {
  fakeTimers("setTimeout");
  const actor = ({ headers }: Request) => headers.get("X-User") ?? "anna";
  const { call, stored } = setUp({ actor });
  const issue = (key: string) => call("keys/issue", { plan: "pro" }, keyed(key));
  const recover = (idempotencyKey: string, headers = {}) =>
    call("secrets/recover", { idempotencyKey }, headers);
  const secret = made(await issue(key));
  expect(made(await recover(key))).toBe(secret);
  expect(await recover(key, { "X-User": "ben" })).toMatchObject({ code: "withdrawn" });
  await call("secrets/take", { idempotencyKey: key });
  for (const after of [await recover(key), await issue(key)])
    expect(after).toMatchObject({ status: 409, code: "secret_taken" });

  expect(await recover("late")).toMatchObject({ status: 409, code: "withdrawn" });
  expect(await issue("late")).toMatchObject({ code: "withdrawn" });
  expect(await stored()).toHaveLength(1);

  expect(made(await issue("left"))).toMatch(/^pet_live/);
  vi.advanceTimersByTime(3_600_000);
  expect(await recover("left")).toMatchObject({ code: "withdrawn" });
});

it("an action is refused when a thousand secrets wait, rather than that one is lost", async () => {
  const { post, list } = setUp();
  const issue = async (key: string) =>
    (await post("keys/issue", { plan: "pro" }, keyed(key))).status;
  const secrets = async (name: string, idempotencyKey: string) =>
    (await post(`secrets/${name}`, { idempotencyKey })).status;
  const timers = process.getActiveResourcesInfo().length;
  await post("pets/add", { name: "", categoryId: "7", status: "sold" }, once);
  await secrets("recover", "early");
  for (let count = 1; count < 999; count += 1) await issue(`key-${count}`);
  expect(process.getActiveResourcesInfo().length).toBeLessThan(timers + 900);
  expect([await issue("a"), await issue("b"), await issue("more")]).toEqual([200, 200, 503]);
  expect([await secrets("recover", "none"), await secrets("take", "none")]).toEqual([503, 200]);
  await secrets("take", "key-500");
  expect([await issue("more"), await secrets("recover", "key-1")]).toEqual([200, 200]);
  expect((await list()).total).toBe(1_001);
});

it("an action is not done when the host cannot say who does it", async () => {
  const { post, stored, onEvent } = setUp({ actor: () => expect.fail("no session") });
  await expectError(await post("keys/issue", { plan: "pro" }), 500);
  expect(await stored()).toEqual([]);
  expect(onEvent).not.toHaveBeenCalled();
});

it.each<[string, () => void]>([
  ["throws", () => expect.fail("the audit log is full")],
  ["rejects", () => Promise.reject(new Error("the audit log is full"))],
])("an action has its result, though the host's listener %s", async (_, onEvent) => {
  const { call, onError } = setUp({ onEvent });
  expect(made(await call("keys/issue", { plan: "free" }))).toMatch(/^pet_live_\w{36}$/);
  const errors = [[{ message: "the audit log is full" }]];
  await expect.poll(() => onError.mock.calls).toMatchObject(errors);
});

it("the list of keys has the newest first, or the most used, and says in which states they are", async () => {
  const { store, clock, issue, list } = setUp();
  const use = async (secret: string, times: number) => {
    for (let count = 0; count < times; count += 1) await store.as(secret).listPets();
  };
  const revoked = await issue("revoked", { expiresAt: NOW + DAY });
  await store.keys.revoke(revoked.key.id);
  await issue("expired", { expiresAt: NOW + 1_000 });
  clock.advance(2_000);
  await issue("expiring", { expiresAt: NOW + 7 * DAY });
  const later = await issue("later", { expiresAt: NOW + 4_000 + 7 * DAY });
  const replaced = await issue("replaced");
  await store.keys.rotate(replaced.key.id, { overlapSeconds: 60 });
  await use(replaced.secret, 1);
  const banned = await issue("banned");
  await use(banned.secret, 61);
  clock.advance(2_000);
  await use(banned.secret, 61);
  await use(later.secret, 1);
  const busy = await issue("busy");
  await use(busy.secret, 7);

  const newest = await list();
  expect(labels(newest).join(" ")).toBe("busy banned replaced later expiring expired revoked");
  const states = "active banned active,replaced active active,expiring expired revoked";
  expect(newest.keys.map((each) => each.states.join()).join(" ")).toBe(states);
  const once = { expiring: 1, replaced: 1, banned: 1, expired: 1, revoked: 1 };
  expect(newest.counts).toEqual({ all: 7, active: 4, ...once });
  const used = labels(await list({ order: "use" })).slice(0, 4);
  expect(used).toEqual(["banned", "busy", "later", "replaced"]);
  for (const state of ["expiring", "replaced", "banned", "expired", "revoked"] as const)
    expect(labels(await list({ state }))).toEqual([state]);
  clock.advance(61_000);
  expect((await list()).counts).toMatchObject({ active: 5, replaced: 0, banned: 0 });
  expect(labels(await list({ order: "use" }))[0]).toBe("banned");
});

it("the list of keys is searched by label, id, hint and a part of a secret, and filtered by plan", async () => {
  const { store, clock, issue, list, call } = setUp();
  const { key, secret } = await issue("Zoo <b>Zürich</b> 🐈", { plan: "pro" });
  await issue("zoo Basel");
  await issue("Paws");
  const searched = async (search: string, filter = {}) => labels(await list({ search, ...filter }));
  expect(await searched(" zOO ")).toEqual(["zoo Basel", key.label]);
  expect(await searched("x".repeat(200))).toEqual([]);
  expect(await searched("zoo", { plan: "pro" })).toEqual(["Zoo <b>Zürich</b> 🐈"]);
  for (const part of [key.id.slice(-6).toUpperCase(), secret.slice(0, 13), secret.slice(0, 30)])
    expect(await searched(part)).toEqual([key.label]);
  await store.keys.issue({ plan: "free" });
  const nothing = { keys: [], matching: 0, total: 4, counts: { all: 0, active: 0 } };
  expect(await list({ search: "nothing" })).toMatchObject(nothing);
  const rotated = (await store.keys.rotate(key.id, { overlapSeconds: 60 }))._unsafeUnwrap();
  clock.advance(1_000);
  for (const each of [secret, rotated.secret]) {
    expect(await searched(each.slice(0, 13))).toEqual([key.label]);
    expect((await call("keys/find-by-secret", { secret: each })).key.id).toBe(key.id);
  }
});

it("the list of keys follows what others change", async () => {
  const storage = createMemoryStorage();
  const read = storage.keys.list.bind(storage.keys);
  Object.assign(storage.keys, {
    list: async (query: KeyQuery) => (query.after ?? (await setImmediate()), read(query)),
  });
  const { store, clock, issue, list, call } = setUp({}, { storage });
  const first = await issue("first");
  expect(labels(await list())).toEqual(["first"]);
  await issue("second");
  await call("keys/issue", { plan: "free", label: "third" });
  await store.keys.revoke(first.key.id);
  clock.advance(999);
  const next = await list();
  expect([labels(next).join(), next.keys[2]?.states]).toEqual(["third,second,first", ["revoked"]]);
  expect([next.readAt, labels(await list({ state: "revoked" }))]).toEqual([NOW, []]);
  clock.advance(1_000);
  expect(labels(await list({ state: "revoked" }))).toEqual(["first"]);
  clock.advance(-10_000);
  await store.keys.changePlan(first.key.id, { plan: "pro" });
  expect(labels(await list({ plan: "pro" }))).toEqual(["first"]);
  clock.advance(100_000);
  await store.keys.purge({ olderThanSeconds: 60 });
  expect(await list()).toMatchObject({ total: 2, matching: 2 });
});

it("the list of keys keeps a revocation that comes during a slow reading, and shows no key that was purged", async () => {
  const storage = createMemoryStorage();
  const { store, clock, issue, list, call } = setUp({}, { storage });
  const { id } = (await issue("acme")).key;
  const { keys } = storage;
  const read = keys.list.bind(keys);
  let gate = Promise.resolve();
  Object.assign(keys, {
    list: async (query: KeyQuery) => {
      const page = await read(query);
      // It takes a second, so that all keys are read in the background the next time.
      clock.advance(1_000);
      if (query.after === undefined) await gate;
      return page;
    },
  });
  expect(await list()).toMatchObject({ readAt: NOW + 1_000 });
  clock.advance(60_000);
  let open = (): void => undefined;
  gate = new Promise((resolve) => (open = resolve));
  expect(await list()).toMatchObject({ total: 1, readAt: NOW + 1_000 });
  await call("keys/revoke", { id });
  open();
  await setImmediate();
  Object.assign(keys, { list: read });
  const { readAt, counts } = await list();
  expect([readAt > NOW + 61_000, counts.active, counts.revoked]).toEqual([true, 0, 1]);
  clock.advance(1);
  await store.keys.purge({ olderThanSeconds: 0 });
  expect(await list()).toMatchObject({ keys: [], total: 1 });
});

it.each(["newest", "use"] as const)("pages of many keys by %s beside other work", async (order) => {
  const storage = createMemoryStorage();
  const ids = Array.from({ length: 10_020 }, (_, at) => `${at + 10_000}`);
  const usedAt = (id: string) => NOW - (+id % 100);
  const all = ids.map((id) => ({ key: aKey(id), usage: { ...NO_USAGE, lastUsedAt: usedAt(id) } }));
  await storage.keys.import(all);
  const { list } = setUp({}, { storage });
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  const shown = async (page: number) => (await list({ order, page })).keys.map(({ id }) => id);
  const used = (id: string) => (order === "use" ? usedAt(id) : 0);
  const wanted = ids.toSorted((one, other) => used(other) - used(one) || +other - +one);
  expect([await shown(0), await shown(200)]).toEqual([wanted.slice(0, 50), wanted.slice(-20)]);
  expect(await list({ order, page: 201 })).toMatchObject({ keys: [], matching: 10_020 });
  clearInterval(counting);
  expect(turns).toBeGreaterThan(20);
});

it("the list of keys knows the plans of the host", async () => {
  const plans = { pro: { perMinute: 5, perDay: 50 }, gold: "custom" } as const;
  const { call } = setUp({ baseUrl: "https://pets.example/v1/" }, { plans });
  expect(await call("info", {})).toMatchObject({
    actor: "anna",
    baseUrl: "https://pets.example/v1",
    now: NOW,
    plans: { free: { perMinute: 60, perDay: 1_000 }, ...plans, enterprise: "custom" },
  });
  expect(await setUp({ actor: undefined }).call("info", {})).toMatchObject({ actor: "operator" });
  const limits = { perMinute: 3, perDay: 30 };
  expect((await call("keys/issue", { plan: "gold", limits })).key.limits).toEqual(limits);
});
