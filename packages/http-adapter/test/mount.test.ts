import { createServer, Server, type RequestListener } from "node:http";
import { mount } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { listen, makeStore } from "./support/serve.js";

const host: RequestListener = (_, response) => response.end("host");

test("listeners from before and from after the mount get what is elsewhere, and nothing else", async () => {
  const { store, key } = await makeStore();
  const seen: string[] = [];
  const server = createServer(host);
  mount(server, store);
  server.on("request", ({ url = "" }) => seen.push(url));
  const { call } = await listen(server, key);

  expect((await call({ path: "/" })).body).toBe("host");
  expect((await call()).body).toBe("[]");
  expect((await call({ path: "/v1" })).status).toBe(404);
  expect(seen).toEqual(["/"]);
});

test("without listeners, elsewhere is 404 with an Error body, at no cost", async () => {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, store);
  const { call } = await listen(server, key);
  const { status, body, headers } = await call({ path: "/" });
  expect(status).toBe(404);
  expect(JSON.parse(body)).toMatchObject({ code: "not_found", status: 404 });
  expect(headers["x-ratelimit-remaining"]).toBe("60");
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

test("unmounting leaves the server as it was; twice is fine", async () => {
  const { store, key } = await makeStore();
  const server = createServer(host);
  const before = { own: Object.keys(server), events: server.eventNames() };
  const unmount = mount(server, store);
  unmount();
  unmount();
  expect({ own: Object.keys(server), events: server.eventNames() }).toEqual(before);
  expect(Object.hasOwn(server, "emit")).toBe(false);
  const { call } = await listen(server, key);
  expect((await call()).body).toBe("host");
});

test("an emit that the host has overridden before is put back; one from after stays", async () => {
  const { store, key } = await makeStore();
  const server = createServer(host);
  const seen: unknown[] = [];
  const override = (): void => {
    const emit = server.emit.bind(server);
    server.emit = (event: string, ...args: unknown[]) => {
      seen.push(event);
      return emit(event, ...args);
    };
  };
  override();
  const overridden = emitOf(server);
  mount(server, store)();
  expect(emitOf(server)).toBe(overridden);

  const unmount = mount(server, store);
  override();
  const outermost = emitOf(server);
  unmount();
  expect(emitOf(server)).toBe(outermost);
  const { call } = await listen(server, key);
  expect((await call()).body).toBe("host");
  expect(seen.filter((event) => event === "request")).toHaveLength(2);
});

test("a mount touches no other server and no prototype", async () => {
  const { store, key } = await makeStore();
  const emit = emitOf(Server.prototype);
  mount(createServer(), store);
  expect(emitOf(Server.prototype)).toBe(emit);
  const { call } = await listen(createServer(host), key);
  expect((await call()).body).toBe("host");
});

test("two stores live on one server, and either can be unmounted first", async () => {
  const one = await makeStore();
  const other = await makeStore();
  const server = createServer();
  const unmountOne = mount(server, one.store, { basePath: "/one/v1" });
  const unmountOther = mount(server, other.store, { basePath: "/other/v1" });
  const { call } = await listen(server, one.key);
  const statuses = async (): Promise<number[]> => [
    (await call({ path: "/one/v1/pets" })).status,
    (await call({ path: "/other/v1/pets", key: other.key })).status,
    (await call({ path: "/" })).status,
    (
      await call({
        path: "/one/v1/pets",
        method: "POST",
        key: null,
        headers: ["Content-Length: 10", "Expect: 100-continue"],
      })
    ).status,
  ];
  expect(await statuses()).toEqual([200, 200, 404, 401]);
  unmountOne();
  expect(await statuses()).toEqual([404, 200, 404, 100]);
  mount(server, one.store, { basePath: "/one/v1" });
  unmountOther();
  expect(await statuses()).toEqual([200, 404, 404, 401]);
});

/** The `emit` of an object's own, if it has one. */
function emitOf(owner: object): unknown {
  return Object.getOwnPropertyDescriptor(owner, "emit")?.value;
}

test("mounting anew before unmounting, again and again, leaves no trace", async () => {
  const { store, key } = await makeStore();
  const server = createServer();
  let unmount = mount(server, store);
  for (let count = 0; count < 20_000; count += 1) {
    const unmountNext = mount(server, store);
    unmount();
    unmount = unmountNext;
  }
  const { call } = await listen(server, key);
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
  unmount();
  expect(Object.hasOwn(server, "emit")).toBe(false);
});
