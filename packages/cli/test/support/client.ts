import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { petsIn } from "./command.js";

/** The parts of a response that tests check; a missing header of the limit is NaN. */
export type Reply = Awaited<ReturnType<typeof send>>;

export const addPet = (url: string, agent: Agent, secret: string, name: string, key?: string) =>
  send(`${url}/pets`, agent, secret, JSON.stringify({ name, categoryId: 1 }), key);

/** Sends a request: GET, or POST when there is a body, with an idempotency key. Rejects as `addPet` does. */
export async function send(url: string, agent: Agent, secret: string, body?: string, key?: string) {
  const headers = {
    authorization: `Bearer ${secret}`,
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  const method = body === undefined ? "GET" : "POST";
  const sent = request(url, { agent, method, headers }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    body: await text(response),
    remaining: Number(response.headers["x-ratelimit-remaining"]),
  };
}

export const WRITERS = 24;

export const CONNECTIONS = 64;

/** The reply to a request with this secret, or `lost` if the connection ended before it. */
export type Sent = (Reply | typeof LOST) & { readonly secret: string };

const LOST = { status: "lost", body: "", remaining: NaN } as const;

/**
 * Lists pets once with each of these secrets, in their order, over 64 connections to each server. Each connection
 * sends its next request after it has received a response; one that loses a response sends no other.
 */
export async function sendAll(
  servers: readonly { readonly url: string }[],
  secrets: readonly string[],
  onReply: (count: number) => void = () => undefined,
): Promise<readonly Sent[]> {
  const replies: Sent[] = [];
  const waiting = secrets.values();
  const work = async (url: string, agent: Agent): Promise<void> => {
    for (const secret of waiting) {
      const reply = await send(`${url}/pets?limit=1`, agent, secret).catch(() => LOST);
      replies.push({ ...reply, secret });
      onReply(replies.length);
      if (reply.status === "lost") return;
    }
  };
  await Promise.all(
    servers.map(async ({ url }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      await Promise.all(Array.from({ length: CONNECTIONS }, () => work(url, agent)));
      agent.destroy();
    }),
  );
  return replies;
}

export const count = (replies: readonly Sent[], status: Sent["status"]): number =>
  replies.filter((each) => each.status === status).length;

export type Add = (name: string, agent: Agent) => Promise<Reply | undefined>;

/**
 * Starts writers that add pets, each one after the other, until they are stopped. `add` resolves to the reply to a
 * create, or to nothing if there was none. `created` has the ids of the acknowledged pets by their names.
 */
export function startWriters(writers: number, add: Add) {
  const created = new Map<string, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: writers });
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const name = `${writer}-${count}`;
      const reply = await add(name, agent);
      if (reply === undefined) continue;
      if (reply.status !== 201) throw new Error(`${reply.status}: ${reply.body}`);
      created.set(name, (JSON.parse(reply.body) as { id: number }).id);
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const stop = async (): Promise<void> => {
    isOver = true;
    await writing;
    agent.destroy();
  };
  return { created: created as ReadonlyMap<string, number>, stop };
}

export async function addUntilDone(
  send: () => Promise<Reply | undefined>,
  onRetry: () => void,
): Promise<Reply> {
  for (;;) {
    const reply = await send().catch(() => undefined);
    if (reply !== undefined) return reply;
    onRetry();
    await setTimeout(5);
  }
}

/** Half of the creates are repeated until there is a response; the others are given up if they lose theirs. */
export function byHand(server: { readonly url: string }, secret: string, onRetry: () => void): Add {
  return async (name, agent) => {
    const isRepeated = Number.parseInt(name) % 2 === 0;
    const add = (key?: string) => addPet(server.url, agent, secret, name, key);
    return isRepeated ? addUntilDone(() => add(name), onRetry) : add().catch(() => setTimeout(5));
  };
}

/** Adds pets over kills. Resolves to the ids of the pets that were acknowledged, by their names. */
export async function addOverKills(
  add: Add,
  kills: number,
  kill: (count: number) => Promise<unknown>,
) {
  const { created, stop } = startWriters(WRITERS, add);
  for (let count = 0; count < kills; count += 1) {
    const before = created.size;
    await expect.poll(() => created.size, { interval: 1 }).toBeGreaterThan(before + WRITERS);
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((count * 37) % 120);
    await kill(count);
  }
  await stop();
  return created;
}

/** Expects that these pets are stored once each, and that a file is whole. Returns the number of others. */
export async function expectStored(database: string, created: ReadonlyMap<string, number>) {
  const lines = await petsIn(database);
  const pets = lines.map((line) => JSON.parse(line) as { id: number; name: string });
  const stored = new Map(pets.map(({ id, name }) => [name, id]));
  expect(stored.size, "no pet is stored twice").toBe(pets.length);
  expect([...created].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
  if (!database.startsWith("postgres")) {
    const reader = new Database(database, { readonly: true });
    expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    reader.close();
  }
  return pets.length - created.size;
}
