import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type NodeOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, errorOf, issue, PET, petOf, serve, type Call } from "./support/serve.js";

const START = Date.UTC(2030, 0, 1) / 1_000;
const POLICY = '"minute";q=60;w=60, "day";q=1000;w=86400';

test("a Free key has 60 requests a minute: Remaining falls by one, the 61st waits for Reset, rounded up to a second", async () => {
  const { call, clock } = await serve();
  clock.advance(1);
  const always = { "x-ratelimit-limit": "60", "x-ratelimit-reset": String(START + 61) };
  for (let remaining = 59; remaining >= 0; remaining -= 1) {
    const headers = { ...always, "x-ratelimit-remaining": String(remaining) };
    expect(await call()).toMatchObject({ status: 200, headers });
    clock.advance(10);
  }
  const headers = { ...always, "x-ratelimit-remaining": "0", "retry-after": "60" };
  expect(await call()).toMatchObject({ ...errorOf(429, "rate_limit_exceeded"), headers });
  clock.advance(60_000);
  expect((await call()).status).toBe(200);
});

test("both windows are in the draft's fields, if asked for, on every kind of response", async () => {
  const { call, clock, key } = await serve({ rateLimitFields: "draft-11" });
  const expectDraft = async (status: number, ratelimit: unknown, sent: Call = {}) => {
    const headers = { "ratelimit-policy": POLICY, ratelimit };
    expect(await call(sent)).toMatchObject({ status, headers });
  };
  await expectDraft(200, '"minute";r=59;t=60, "day";r=999;t=86400');
  clock.advance(500);
  await expectDraft(404, '"minute";r=58;t=60, "day";r=998;t=86400', { path: "/v1/nothing" });
  clock.advance(58_501);
  await expectDraft(401, '"minute";r=59;t=60, "day";r=999;t=86400', { key: `${key}x` });
  await expectDraft(200, '"minute";r=57;t=1, "day";r=997;t=86341');
  const { headers } = await (await serve()).call();
  expect(Object.keys(headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
});

const post = (body: string): Call => ({ method: "POST", body });

test.each<readonly [status: number, what: string, sent: Call]>([
  [200, "a list", {}],
  [201, "an added pet", post(PET)],
  [400, "a bad query", { path: "/v1/pets?limit=0" }],
  [400, "malformed JSON", post("{")],
  [404, "an unknown path", { path: "/v1/dogs" }],
  [404, "an unknown pet", { path: "/v1/pets/1" }],
  [413, "a body too long", post(petOf(65_537))],
])(
  "%i: %s costs one request; without a key, 401, and its client address one",
  async (status, _, sent) => {
    const { call, store, key } = await serve();
    const headers = { "x-ratelimit-remaining": "59" };
    expect(await call(sent)).toMatchObject({ status, headers });
    expect((await call()).headers["x-ratelimit-remaining"]).toBe("58");
    expect(await call({ ...sent, key: null })).toMatchObject({ status: 401, headers });
    expect(store.anonymousQuota("127.0.0.1").remaining).toBe(59);
    for (let count = 0; count < 58; count += 1) await store.as(key).admit();
    expect((await call(sent)).status).toBe(429);
  },
);

test("a request that is refused for its syntax costs nothing", async () => {
  const { call, store } = await serve();
  expect((await call({ headers: ["Host: twice.test"] })).status).toBe(400);
  expect((await call({ headers: ["Expect: cake"] })).status).toBe(417);
  expect(store.anonymousQuota("127.0.0.1").remaining).toBe(60);
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

test("each request of a connection is charged to its own key or client address, which may differ, as behind a proxy", async () => {
  const clientAddress: NodeOptions["clientAddress"] = ({ headers }) =>
    headers["x-forwarded-for"]?.toString();
  const { store, dial, key } = await serve({ clientAddress });
  const other = await issue(store, "pro");
  const wire = await dial();
  const limitOf = async (sent: string | null, address = "192.0.2.1") => {
    const bytes = compose({ key: sent, headers: [`X-Forwarded-For: ${address}`] });
    const { status, headers } = await wire.exchange(bytes);
    return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
  };
  expect(await limitOf(null)).toEqual([401, "60", "59"]);
  expect(await limitOf(key)).toEqual([200, "60", "59"]);
  expect(await limitOf(key)).toEqual([200, "60", "58"]);
  expect(await limitOf(other)).toEqual([200, "300", "299"]);
  expect(await limitOf(key)).toEqual([200, "60", "57"]);
  expect(await limitOf("bad")).toEqual([401, "60", "58"]);
  expect(await limitOf(null)).toEqual([401, "60", "57"]);
  expect(await limitOf(null, "192.0.2.2")).toEqual([401, "60", "59"]);
  expect(await limitOf(null)).toEqual([401, "60", "56"]);
});

test("a server keeps nothing of a connection that is closed", async () => {
  const { server, call } = await serve();
  const sockets: WeakRef<object>[] = [];
  server.on("connection", (socket) => void sockets.push(new WeakRef(socket)));
  await call();
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const kept = () => (collectGarbage(), sockets.filter((socket) => socket.deref()));
  await expect.poll(kept).toEqual([]);
  expect(sockets).toHaveLength(1);
});
