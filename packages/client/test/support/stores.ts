import { randomBytes } from "node:crypto";
import type { Server, Socket } from "node:net";
import type { PetStoreOptions } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { createPetsClient, type PetsClientOptions } from "@petstore/client";
import { onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";
import { makeStore } from "../../../http-adapter/test/support/serve.js";

export const rex = { name: "Rex", categoryId: 7 };
export type Stocked = Awaited<ReturnType<typeof stock>>;

export const stock = (options: PetStoreOptions = {}) =>
  // A full second near the machine's time, which a server's Date header shows.
  makeStore(options, Math.ceil(Date.now() / 1_000) * 1_000);

/** The slash at the end changes nothing. */
export const ANY = { baseUrl: "http://pets.test/v1/", apiKey: "pet_live_any" };

/** Creates a client of this store over its `fetch` handler. Its waits after a 429 have no chance in them. */
export function clientOf({ store, clock, key }: Stocked, options: Partial<PetsClientOptions> = {}) {
  const fetch = createFetchHandler(store, { rateLimitFields: "draft-11" });
  const random = (size: number) => (size === 4 ? new Uint8Array(4) : randomBytes(size));
  return createPetsClient({ ...ANY, apiKey: key, fetch, clock, random, ...options });
}

export async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${await portOf(server)}/v1`;
}

export { turns } from "../../../storage-sql/test/support/samples.js";

export const never = (): Promise<Response> => new Promise(() => undefined);
