import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAGE_BYTES } from "@petstore/core/storage";
import { createPetStoreServer } from "@petstore/http-adapter";
import { expect, onTestFinished, test } from "vitest";
import { compose, issue, makeStore } from "./support/serve.js";

/** A name that takes as much as a body may have, and cannot be kept in one byte for each character. */
const LARGE = `${"x".repeat(65_400)}Ж`;

test("a page of large pets ends early; clients that do not read theirs are disconnected before they fill the memory, the longest-waiting first", async () => {
  const { store } = await makeStore();
  for (let pet = 0; pet < 20; pet += 1)
    (await store.trusted.createPet({ name: LARGE, categoryId: 1 }))._unsafeUnwrap();
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
  let received = "";
  last?.setEncoding("latin1").on("data", (text: string) => (received += text));
  await expect.poll(() => received.length).toBeGreaterThan(PAGE_BYTES * 0.9);
  expect(Number(/Content-Length: (\d+)/i.exec(received)?.[1])).toBeLessThanOrEqual(PAGE_BYTES);
});
