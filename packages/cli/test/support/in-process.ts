import { createServer } from "node:http";
import { createPetStore, type PetStore, type Storage } from "@petstore/core";
import { mount } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

/** A store over this storage, served on a free port of this process. */
export async function serveInProcess(
  storage: Storage,
): Promise<{ readonly url: string; readonly store: PetStore }> {
  const store = createPetStore({ storage, ban: false });
  const server = createServer((_, response) => response.end());
  mount(server, store);
  const port = await portOf(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/v1`, store };
}

/** Issues a key with limits that no test reaches. */
export async function unlimitedKeyOf(store: PetStore): Promise<string> {
  const limits = { perMinute: 1e9, perDay: 1e9 };
  return (await store.keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap().secret;
}

/** The store in this file, in this process, beside the servers on it. Closed when the test ends. */
export async function openBeside(database: string): Promise<PetStore> {
  const storage = await openSqliteStorage({ filename: database });
  const store = createPetStore({ storage: storage._unsafeUnwrap() });
  onTestFinished(async () => {
    await store.close();
  });
  return store;
}
