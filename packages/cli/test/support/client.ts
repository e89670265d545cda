import { Agent, request } from "node:http";

/** The parts of a response that tests check. */
export interface Reply {
  /** `lost` if the connection of a `Client` ended before the response did. */
  readonly status: number | "lost";
  readonly body: string;
  /** The rate limit headers; NaN if missing. */
  readonly remaining: number;
  readonly retryAfter: number;
}

/** Adds a pet over HTTP. Rejects when the connection fails before the response is complete. */
export function addPet(
  url: string,
  agent: Agent,
  secret: string,
  name: string,
  idempotencyKey?: string,
): Promise<Reply> {
  const body = JSON.stringify({ name, categoryId: 1 });
  return send(`${url}/pets`, agent, secret, body, idempotencyKey);
}

/** Sends a request: GET, or POST when there is a body. Rejects as `addPet` does. */
export function send(
  url: string,
  agent: Agent,
  secret: string,
  body?: string,
  idempotencyKey?: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => {
        const { statusCode: status = 0, headers: received, complete } = response;
        const remaining = Number(received["x-ratelimit-remaining"]);
        const retryAfter = Number(received["retry-after"]);
        if (complete) resolve({ status, body: text, remaining, retryAfter });
      });
      response.on("close", () => reject(new Error("the response was cut off")));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Adds pets with this many writers, each one pet at a time, until their connections fail. */
export async function writeUntilCut(
  url: string,
  secret: string,
  writers: number,
  prefix: string,
  acknowledge: (id: number, name: string) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: writers });
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const name = `${prefix} ${writer} ${count}`;
      const reply = await addPet(url, agent, secret, name).catch(() => undefined);
      if (reply === undefined) return;
      if (reply.status !== 201) throw new Error(`${reply.status}: ${reply.body}`);
      acknowledge((JSON.parse(reply.body) as { id: number }).id, name);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  agent.destroy();
}

const LOST: Reply = { status: "lost", body: "", remaining: NaN, retryAfter: NaN };

/** A client that lists a pet. */
export interface Client {
  list(secret: string): Promise<Reply>;
  close(): void;
}

/** Creates a client of the server at this address with at most this many connections. */
export function createClient(url: string, connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    list: (secret) => send(`${url}/pets?limit=1`, agent, secret).catch(() => LOST),
    close: () => agent.destroy(),
  };
}

/** How many connections each client of a burst uses. */
export const CONNECTIONS = 64;

/**
 * Sends this many requests over all connections of all clients at once. Each connection sends its next
 * request after it has received a response. The connections use the secrets in turn. A client that loses
 * a response stops.
 */
export async function burst(
  clients: readonly Client[],
  secrets: readonly string[],
  requests: number,
): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  let sent = 0;
  const work = async (client: Client, secret: string): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const reply = await client.list(secret);
      replies.push(reply);
      if (reply.status === "lost") return;
    }
  };
  await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: CONNECTIONS }, (_, index) =>
        work(client, secrets[index % secrets.length] ?? ""),
      ),
    ),
  );
  return replies;
}

/** Counts the replies with this status, or the lost ones. */
export function count(replies: readonly Reply[], status: Reply["status"]): number {
  return replies.filter((each) => each.status === status).length;
}
