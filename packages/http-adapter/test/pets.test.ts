import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStorage, type Pet } from "@petstore/core";
import { petFilters } from "@petstore/core/internal";
import { PAGE_BYTES, type Storage } from "@petstore/core/storage";
import { createPetStoreServer } from "@petstore/http-adapter";
import { ok } from "neverthrow";
import { expect, onTestFinished, test } from "vitest";
import { compose, errorOf, issue, LARGE, makeStore, PET, serve } from "./support/serve.js";
import type { Call } from "./support/serve.js";

test("a page that is the same array again, changed, is rendered again", async () => {
  const page: Pet[] = [];
  const list = () => Promise.resolve(ok({ pets: page, next: undefined }));
  const { call } = await serve({ store: { storage: storing({ list }) } });
  expect((await call()).body).toBe("[]");
  page.push({ id: 1n, name: "Rex", categoryId: 7n, status: "sold" });
  expect((await call()).body).toContain("Rex");
});

const every = { name: "a", categoryId: 1n, status: "available" } as const;
const filters = petFilters.map((field) => `${field}=${every[field]}&`).join("");

test.each([
  ["", "", [20, 1]],
  [`?unknown=1&limit=9&${filters}`, `limit=9&${filters}`, [9, 9, 3]],
])("from /pets%s, next links lead through every pet once", async (query, own, sizes) => {
  const { call, store } = await serve();
  for (let id = 1; id <= 21; id += 1) await store.trusted.createPet(every);
  const pages: unknown[][] = [];
  for (let next: string | undefined = query; next !== undefined;) {
    const { body, headers } = await call({ path: `/v1/pets${next}` });
    pages.push((JSON.parse(body) as { readonly id: number }[]).map(({ id }) => id));
    const { link } = headers;
    next = link?.slice(1, link.indexOf(">"));
    if (link !== undefined) expect(link).toBe(`<?${own}after=${pages.flat().length}>; rel="next"`);
  }
  expect(pages.map(({ length }) => length)).toEqual(sizes);
  expect(pages.flat()).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
});

test("getPet announces its end with every status, and nothing else does", async () => {
  const { call, create, store, key } = await serve();
  await create(PET);
  const path = "/v1/pets/1";
  const headers = {
    deprecation: "@1764892800",
    sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
    link: '<../pets>; rel="successor-version"',
  };
  const expectDeprecated = async (status: number, sent: Call = {}): Promise<void> =>
    expect(await call({ path, ...sent })).toMatchObject({ status, headers });
  await expectDeprecated(200);
  await expectDeprecated(200, { method: "HEAD" });
  await expectDeprecated(401, { key: null });
  await expectDeprecated(404, { path: "/v1/pets/x" });
  for (const sent of [{}, { method: "PUT", path }, { path: "/v1/x" }])
    expect(Object.keys((await call(sent)).headers).join()).not.toMatch(/deprecation|sunset/);
  for (let count = 0; count < 60; count += 1) await store.as(key).admit();
  await expectDeprecated(429);
  await store.close();
  await expectDeprecated(503);
});

test.each(["9223372036854775807", "-9223372036854775808", "9007199254740993"])(
  "the id %s is exact in every response, in the path, in Location, in the next link and as after",
  async (digits) => {
    const id = BigInt(digits);
    const pet = { id, name: "Rex", categoryId: 1n, status: "available" } as const;
    const storage = storing({
      create: () => Promise.resolve(ok(pet)),
      find: (wanted) => Promise.resolve(ok(wanted === id ? pet : undefined)),
      list: ({ after }) => Promise.resolve(ok({ pets: after === id ? [pet] : [], next: after })),
    });
    const { call, create } = await serve({ store: { storage } });
    const created = await create(PET);
    expect(created.body).toContain(`{"id":${digits},`);
    expect(created.headers["location"]).toBe(`/v1/pets/${digits}`);
    expect((await call({ path: `/v1/pets/${digits}` })).body).toContain(`{"id":${digits},`);
    const listed = await call({ path: `/v1/pets?after=${digits}` });
    expect(listed.body).toContain(`{"id":${digits},`);
    expect(listed.headers["link"]).toBe(`<?after=${digits}>; rel="next"`);
  },
);

test("the same key and pet get the same 201, marked as a replay, and cost a token each; another pet gets 422", async () => {
  const { call } = await serve();
  const post = (sent: string, body = PET) =>
    call({ method: "POST", body, headers: [`Idempotency-Key: ${sent}`] });
  const first = await post("order-1");
  expect(first.status).toBe(201);
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  const same = '{"categoryId":1.0,"status":"available","name":"\\u0052ex"}';
  const replayed = { location: "/v1/pets/1", "idempotent-replayed": "true" };
  const headers = { ...replayed, "x-ratelimit-remaining": "58" };
  expect(await post("order-1", same)).toMatchObject({ status: 201, body: first.body, headers });
  const other = await post("order-1", PET.replace("1", "8"));
  expect(other).toMatchObject(errorOf(422, "idempotency_key_reused"));
  expect(JSON.parse((await call({ headers: ["Idempotency-Key: ,"] })).body)).toHaveLength(1);
});

test("a page of large pets ends early; clients that do not read theirs are disconnected before they fill the memory, the longest-waiting first", async () => {
  const { store } = await makeStore();
  for (let pet = 0; pet < 20; pet += 1)
    (await store.trusted.createPet({ name: LARGE, categoryId: 1 }))._unsafeUnwrap();
  const key = await issue(store, "business");
  // A socket of the file system takes little from a server whose client does not read.
  const folder = await mkdtemp(join(tmpdir(), "unsent-"));
  const path = join(folder, "socket");
  const server = createPetStoreServer(store, { limits: { timeoutSeconds: 0 } }).listen(path);
  await once(server, "listening");
  const clients: Socket[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  const closed: number[] = [];
  server.on("connection", (socket) => {
    const index = clients.length - 1;
    socket.on("close", () => closed.push(index));
  });
  for (let index = 0; index < 100; index += 1) {
    const client = connect(path).on("error", () => undefined);
    clients.push(client);
    await once(client, "connect");
    client.write(compose({ key, path: "/v1/pets?limit=100" }));
    await once(client, "readable");
  }
  await expect.poll(() => closed.length).toBeGreaterThan(30);
  expect(closed).toEqual(closed.map((_, index) => index));
  const last = clients.at(-1);
  let received = "";
  last?.setEncoding("latin1").on("data", (text: string) => (received += text));
  for (let pages = 1; pages < 20; pages += 1) {
    await expect.poll(() => received.length).toBeGreaterThan(pages * PAGE_BYTES * 0.9);
    last?.write(compose({ key, path: "/v1/pets?limit=100" }));
  }
  expect(closed.length).toBeLessThan(45);
  expect(Number(/Content-Length: (\d+)/i.exec(received)?.[1])).toBeLessThanOrEqual(PAGE_BYTES);
});

function storing(pets: Partial<Storage["pets"]>): Storage {
  const memory = createMemoryStorage();
  return { ...memory, pets: { ...memory.pets, ...pets } };
}
