import type { Client, Told } from "./client.js";

/** How many connections each client uses at a time. */
export const CONNECTIONS = 64;

/**
 * So many requests over all connections of all clients at once, each sending its next one as soon as it
 * was answered. Connections take turns with the secrets. A client that loses an answer stops.
 */
export async function burst(
  clients: readonly Client[],
  secrets: readonly string[],
  requests: number,
): Promise<readonly Told[]> {
  const told: Told[] = [];
  let sent = 0;
  const work = async (client: Client, secret: string): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const answer = await client.ask(secret);
      told.push(answer);
      if (answer.status === "lost") return;
    }
  };
  await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: CONNECTIONS }, (_, index) =>
        work(client, secrets[index % secrets.length] ?? ""),
      ),
    ),
  );
  return told;
}

/** How many of the answers have this status. */
export function count(told: readonly Told[], status: Told["status"]): number {
  return told.filter((each) => each.status === status).length;
}
