import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { NodeOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, issue, PET, serve } from "./support/serve.js";

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

test("a key that is sent twice, or is revoked, is refused with the next request, like an unknown one", async () => {
  const { store, dial, key } = await serve();
  const wire = await dial();
  expect((await wire.exchange(compose({ key }))).status).toBe(200);
  const twice = compose({ key, headers: [`Authorization: Bearer ${key}`] });
  expect((await wire.exchange(twice)).status).toBe(401);
  const [listed] = (await store.keys.list())._unsafeUnwrap().keys;
  await store.keys.revoke(listed?.id ?? "");
  const { status, body } = await wire.exchange(compose({ key }) + compose({ key: "nonsense" }));
  expect([status, body]).toEqual([401, (await wire.response()).body]);
});

test.each([
  ["without a body", ""],
  ["whose body arrives later", PET],
])("an idle connection keeps nothing of a request %s", async (_, body) => {
  const { server, dial, key } = await serve();
  const objects: WeakRef<object>[] = [];
  server.on("request", (request, response) => {
    objects.push(new WeakRef(request), new WeakRef(response));
  });
  const wire = await dial(compose({ key, ...(body && { method: "POST", body }) }));
  await expect.poll(() => objects).toHaveLength(2);
  expect((await wire.exchange(body)).status).toBeLessThan(300);
  await expect.poll(() => keptOf(objects)).toEqual([]);
  expect(wire.socket.destroyed).toBe(false);
});

test("a server keeps nothing of a connection that is closed", async () => {
  const { server, call } = await serve();
  const sockets: WeakRef<object>[] = [];
  server.on("connection", (socket) => void sockets.push(new WeakRef(socket)));
  await call();
  await expect.poll(() => keptOf(sockets)).toEqual([]);
  expect(sockets).toHaveLength(1);
});

function keptOf(objects: readonly WeakRef<object>[]): readonly unknown[] {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return objects.filter((object) => object.deref() !== undefined);
}
