import { Agent, request } from "node:http";

/** What an answer tells about the limits; `lost` when the connection ended before it came. */
export interface Told {
  readonly status: number | "lost";
  readonly remaining: number;
  readonly retryAfter: number;
}

/** A client with connections of its own, which it keeps open. */
export interface Client {
  /** Lists a pet with this secret. */
  ask(secret: string): Promise<Told>;
  close(): void;
}

/** A client of the server at this base address, with at most so many connections. */
export function createClient(url: string, connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    ask: (secret) => ask(agent, `${url}/pets?limit=1`, secret),
    close: () => agent.destroy(),
  };
}

function ask(agent: Agent, url: string, secret: string): Promise<Told> {
  return new Promise((resolve) => {
    const lost = (): void => resolve({ status: "lost", remaining: NaN, retryAfter: NaN });
    const sent = request(url, { agent, headers: { authorization: `Bearer ${secret}` } });
    sent.on("error", lost).on("response", (response) => {
      const told = {
        status: response.statusCode ?? 0,
        remaining: Number(response.headers["x-ratelimit-remaining"]),
        retryAfter: Number(response.headers["retry-after"]),
      };
      response
        .resume()
        .on("error", lost)
        .on("end", () => resolve(told));
    });
    sent.end();
  });
}
