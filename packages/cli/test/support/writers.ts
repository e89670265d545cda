import { Agent, request } from "node:http";

/** An answer to a request. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Adds a pet over HTTP. Rejects when the connection fails before the answer is whole. */
export function addPet(url: string, agent: Agent, secret: string, name: string): Promise<Answer> {
  return send(`${url}/pets`, agent, secret, JSON.stringify({ name, categoryId: 1 }));
}

/** Sends a request: GET, or POST when there is a body. */
export function send(url: string, agent: Agent, secret: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => {
        if (response.complete) resolve({ status: response.statusCode ?? 0, body: text });
      });
      response.on("close", () => reject(new Error("the answer was cut off")));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The pets that a server has acknowledged: their names by their ids. */
export type Acknowledged = Map<number, string>;

/** Has so many writers add pets, each one after the other, until their connections fail. */
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
      const answer = await addPet(url, agent, secret, name).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.body}`);
      acknowledge((JSON.parse(answer.body) as { id: number }).id, name);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  agent.destroy();
}
