import { createPetStore, type PetStore } from "@petstore/core";
import { onTestFinished } from "vitest";
import { openStorage } from "../../../storage-postgres/test/support/open-storage.js";
import { startBuilt, type BuiltServer } from "../support/built-petstore.js";
import { CONNECTIONS, createClient, type Client, type Reply } from "../support/client.js";

/** The store in this database, in this process, beside the servers on it. Closed when the test ends. */
export async function openBeside(url: string): Promise<PetStore> {
  const store = createPetStore({ storage: await openStorage({ url }) });
  onTestFinished(async () => {
    await store.close();
  });
  return store;
}

/** Starts servers as on several machines, one for each database URL. */
export function startServers(
  program: string,
  urls: readonly string[],
): Promise<readonly BuiltServer[]> {
  return Promise.all(urls.map((url) => startBuilt([process.execPath, program], "--database", url)));
}

/** A reply, and the secret that the request was sent with. */
export interface Sent {
  readonly secret: string;
  readonly status: Reply["status"];
}

/**
 * Sends a request with each of these secrets, in their order, over 64 connections to each server. A
 * connection that loses a response sends no other request.
 */
export async function sendAll(
  servers: readonly BuiltServer[],
  secrets: readonly string[],
  onReply: (count: number) => void = () => undefined,
): Promise<readonly Sent[]> {
  const replies: Sent[] = [];
  const waiting = secrets.values();
  const work = async (client: Client): Promise<void> => {
    for (const secret of waiting) {
      const { status } = await client.list(secret);
      replies.push({ secret, status });
      onReply(replies.length);
      if (status === "lost") return;
    }
  };
  const clients = servers.map(({ url }) => createClient(url, CONNECTIONS));
  await Promise.all(
    clients.flatMap((client) => Array.from({ length: CONNECTIONS }, () => work(client))),
  );
  for (const client of clients) client.close();
  return replies;
}
