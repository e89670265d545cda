import type { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, addUntilDone, startWriters, type Reply } from "../support/client.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";

const WRITERS = 24;

useBuiltPetstore();

type Add = (name: string, agent: Agent) => Promise<Reply | undefined>;

/** Half of the creates are repeated until there is a response; the others are given up if they lose theirs. */
function byHand(url: string, secret: string, onRetry: () => void): Add {
  return async (name, agent) => {
    const isRepeated = Number.parseInt(name) % 2 === 0;
    if (isRepeated) return addUntilDone(() => addPet(url, agent, secret, name, name), onRetry);
    return addPet(url, agent, secret, name).catch(() => setTimeout(5));
  };
}

function byClient(baseUrl: string, apiKey: string, onRetry: () => void): Add {
  const pets = createPetsClient({
    ...{ baseUrl, apiKey, maxInFlight: WRITERS },
    // However slow this machine restarts a server, no call gives up.
    ...{ attempts: 1_000, deadlineSeconds: 3_600, backoffSeconds: 0.1 },
    onEvent: ({ type }) => (type === "retrying" ? onRetry() : undefined),
  });
  return async (name) => {
    const { pet } = (await pets.createPet({ name, categoryId: 1 }))._unsafeUnwrap();
    return { status: 201, body: `{"id":${pet.id}}`, remaining: NaN, retryAfter: NaN };
  };
}

const CREATES = [
  ["requests", byHand, sized(1, 50, 1_000)],
  ["calls of a client", byClient, sized(0, 20, 200)],
] as const;

it.each(CREATES.filter(([, , kills]) => kills > 0))(
  "keeps each acknowledged pet, and stores each pet of repeated %s once, over kills",
  async (_, by, kills) => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    let server = await startServer("--database", database);
    let retries = 0;
    const add = by(server.url, secret, () => (retries += 1));
    const { created, stop } = startWriters(WRITERS, add);

    for (let kill = 0; kill < kills; kill += 1) {
      const before = created.size;
      await expect.poll(() => created.size, { interval: 1 }).toBeGreaterThan(before + WRITERS);
      // At another moment each time, without chance: 37 and 120 have no common divisor.
      await setTimeout((kill * 37) % 120);
      await server.end("SIGKILL");
      server = await startServer("--database", database, "--port", new URL(server.url).port);
    }
    await stop();

    const reader = new Database(database, { readonly: true });
    const rows = reader.prepare<[], [string, number]>("select name, id from pets").raw().all();
    expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    reader.close();
    console.info(`${kills} kills, ${created.size} creates, ${retries} retries`);
    const stored = new Map(rows);
    expect(stored.size).toBe(rows.length);
    expect([...created].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
    expect(retries).toBeGreaterThanOrEqual(kills);
  },
);
