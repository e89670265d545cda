import { expect, test } from "vitest";
import { compose, issue, serve } from "./support/serve.js";

test("each request of a connection is charged to its own key", async () => {
  const { store, dial, key } = await serve();
  const other = await issue(store, "pro");
  const wire = await dial();
  const limitOf = async (sent: string | null) => {
    wire.send(compose({ key: sent }));
    const { status, headers } = await wire.response();
    return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
  };
  expect(await limitOf(null)).toEqual([401, "60", "59"]);
  expect(await limitOf(key)).toEqual([200, "60", "59"]);
  expect(await limitOf(key)).toEqual([200, "60", "58"]);
  expect(await limitOf(other)).toEqual([200, "300", "299"]);
  expect(await limitOf(key)).toEqual([200, "60", "57"]);
  expect(await limitOf("bad")).toEqual([401, "60", "58"]);
  expect(await limitOf(null)).toEqual([401, "60", "57"]);
});

test("a key that is revoked is refused with the next request of its connection", async () => {
  const { store, dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(200);
  const listed = await store.keys.list();
  const [{ id } = { id: "" }] = listed.isOk() ? listed.value.keys : [];
  await store.keys.revoke(id);
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(401);
});

test("two Authorization lines are refused on a connection on which one was good", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(200);
  wire.send(compose({ key, headers: [`Authorization: Bearer ${key}`] }));
  expect((await wire.response()).status).toBe(401);
});
