import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PetStore } from "@petstore/core";
import { PAGE_BYTES } from "@petstore/core/storage";
import { createPetStoreServer } from "@petstore/http-adapter";
import { expect, onTestFinished, test } from "vitest";
import { compose, issue, makeStore, serve } from "./support/serve.js";

/** A name that takes as much as a body may have, and cannot be kept in one byte for each character. */
const LARGE = `${"x".repeat(65_400)}Ж`;

async function addLarge(store: PetStore, count: number): Promise<void> {
  for (let pet = 0; pet < count; pet += 1)
    (await store.trusted.createPet({ name: LARGE, categoryId: 1 }))._unsafeUnwrap();
}

test("a page of large pets ends early, and next links lead through every pet once", async () => {
  const { call, store } = await serve();
  await addLarge(store, 40);
  const ids: number[] = [];
  for (let next: string | undefined = "?limit=100"; next !== undefined;) {
    const { body, headers } = await call({ path: `/v1/pets${next}` });
    expect(body.length).toBeLessThanOrEqual(PAGE_BYTES);
    ids.push(...(JSON.parse(body) as { readonly id: number }[]).map(({ id }) => id));
    next = headers["link"]?.slice(1, headers["link"].indexOf(">"));
  }
  expect(ids).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

test("clients that do not read are disconnected before they fill the memory, the longest-waiting first", async () => {
  const { store } = await makeStore();
  await addLarge(store, 20);
  const key = await issue(store, "business");
  // A socket of the file system takes little from a server whose client does not read.
  const folder = await mkdtemp(join(tmpdir(), "unsent-"));
  const path = join(folder, "socket");
  const server = createPetStoreServer(store).listen(path);
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
    // The head of a response: the rest stays with the server.
    await once(client, "readable");
  }
  await expect.poll(() => closed.length).toBeGreaterThan(30);
  expect(closed.length).toBeLessThan(45);
  expect(closed).toEqual(closed.map((_, index) => index));
  // The last client reads all of its page, late.
  const last = clients.at(-1);
  let received = 0;
  last?.on("data", (chunk: Buffer) => (received += chunk.length));
  await expect.poll(() => received).toBeGreaterThan(PAGE_BYTES * 0.9);
});
