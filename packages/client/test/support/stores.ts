import { once } from "node:events";
import type { Server } from "node:net";
import { createPetStore, type PetStore, type PetStoreOptions } from "@petstore/core";
import { createFetchHandler, createPetStoreServer } from "@petstore/http-adapter";
import {
  createManualClock,
  createPetsClient,
  type ManualClientClock,
  type PetsClient,
  type PetsClientOptions,
} from "@petstore/client";
import { onTestFinished } from "vitest";

/** Creates a clock that starts at a full second near the machine's time, which a server's Date header shows. */
export function createClockNow(): ManualClientClock {
  return createManualClock(Math.ceil(Date.now() / 1_000) * 1_000);
}

/** A store on a hand-moved clock, with one key. */
export interface Stocked {
  readonly store: PetStore;
  readonly clock: ManualClientClock;
  readonly key: string;
}

export async function stock(options: PetStoreOptions = {}, plan = "free"): Promise<Stocked> {
  const clock = createClockNow();
  const store = createPetStore({ clock, ...options });
  const issued = await store.keys.issue({ plan });
  return { store, clock, key: issued._unsafeUnwrap().secret };
}

/** Creates a client of this store over its `fetch` handler. Its waits after a 429 have no chance in them. */
export function clientOf(
  { store, clock, key }: Stocked,
  options: PetsClientOptions = {},
): PetsClient {
  const fetch = createFetchHandler(store, { rateLimitFields: "draft-11" });
  return createPetsClient({ apiKey: key, fetch, clock, random: countingRandom(), ...options });
}

/** Creates a source of bytes whose fractions are nearly 0 and whose keys differ. */
export function countingRandom(): (size: number) => Uint8Array {
  let count = 0;
  return (size) => {
    const bytes = new Uint8Array(size);
    if (size > 4) new DataView(bytes.buffer).setUint32(size - 4, (count += 1));
    return bytes;
  };
}

/** Serves a store on a socket for the length of a test. Returns the base URL. */
export async function serve({ store }: Stocked): Promise<string> {
  const server = createPetStoreServer(store, { rateLimitFields: "draft-11" });
  return `${await listen(server)}/v1`;
}

/** Starts a server for the length of a test. Returns its origin. */
export async function listen(server: Server & { closeAllConnections(): void }): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
