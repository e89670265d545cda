import { setImmediate } from "node:timers/promises";
import { createFetchHandler } from "@petstore/http-adapter";
import { createMemoryStorage, type PetStore, type Storage } from "@petstore/core";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { cutsAtEvery, deliveries, petNamed, petWith, sendPieces } from "../support/cut-body.js";
import { issue, makeStore } from "../support/serve.js";
import { startBench } from "./bench.js";
import * as express from "./express-hosts.js";
import * as fastify from "./fastify-hosts.js";
import * as hono from "./hono-hosts.js";
import * as koa from "./koa-hosts.js";
import * as node from "./node-hosts.js";

const HOSTS = [
  node.ours,
  node.plain,
  node.secure,
  node.listener,
  fastify.createHost("", "/v1"),
  express.plain,
  express.behindParser,
  express.behindParserKeepingBytes,
  koa.createHost("app.use"),
  hono.createHost("/v1"),
];

/** For how many turns of the event loop a store takes its time before it admits a request. */
const SLOWNESSES = [0, 4];

/** Bodies are cut at every which place: at each of them in CI. */
const cuts = cutsAtEvery(sized(7, 1, 1));
const UNLIMITED = { perMinute: 1e6, perDay: 1e6 };

describe.each(SLOWNESSES)("while the store takes %i turns to admit a request", (turns) => {
  test.each(HOSTS)("$name stores what is sent, wherever it is cut", async (host) => {
    const { store, dial, basePath } = await startBench(host, { storage: slowStorage(turns) });
    const head = { key: await issue(store, UNLIMITED), path: `${basePath}/pets`, method: "POST" };
    const wire = await dial();
    wire.socket.setNoDelay();
    const sent: string[] = [];
    for (const delivery of deliveries) {
      for (const cut of cuts) {
        const name = `${sent.length} ü`;
        const pieces = cut(petNamed(name));
        await sendPieces(wire, head, pieces, delivery);
        const { status } = await wire.response();
        expect({ ...delivery, pieces: pieces.map(String), status }).toMatchObject({ status: 201 });
        sent.push(name);
      }
      // A pet with something behind it is not a pet.
      for (const pieces of [petWith("x"), petWith("\n{}"), [...petWith(" "), Buffer.from("x")]]) {
        await sendPieces(wire, head, pieces, delivery);
        const { status } = await wire.response();
        expect({ ...delivery, pieces: pieces.map(String), status }).toMatchObject({ status: 400 });
      }
    }
    wire.socket.destroy();
    expect(await namesIn(store)).toEqual(sent);
  });

  test("a fetch handler stores what is sent, wherever it is cut", async () => {
    const { store } = await makeStore({ storage: slowStorage(turns) });
    const handle = createFetchHandler(store);
    const authorization = `Bearer ${await issue(store, UNLIMITED)}`;
    const send = async (pieces: readonly Buffer[]): Promise<number> => {
      const body = ReadableStream.from(pieces);
      const init = { method: "POST", body, duplex: "half" as const, headers: { authorization } };
      return (await handle(new Request("http://pets.test/v1/pets", init))).status;
    };
    const statuses = await Promise.all(cuts.map((cut) => send(cut(petNamed("ü")))));
    expect(statuses).toEqual(cuts.map(() => 201));
    expect(await send(petWith("x"))).toBe(400);
    expect(await namesIn(store)).toEqual(cuts.map(() => "ü"));
  });
});

/** A storage that takes this many turns of the event loop to charge a request. */
function slowStorage(turns: number): Storage {
  const storage = createMemoryStorage();
  return {
    ...storage,
    usage: {
      ...storage.usage,
      charge: async (digest, decide) => {
        for (let turn = 0; turn < turns; turn += 1) await setImmediate();
        return storage.usage.charge(digest, decide);
      },
    },
  };
}

async function namesIn(store: PetStore): Promise<string[]> {
  const names: string[] = [];
  let after: bigint | undefined;
  do {
    const page = (await store.trusted.listPets({ limit: 100, after }))._unsafeUnwrap();
    names.push(...page.pets.map(({ name }) => name));
    after = page.next;
  } while (after !== undefined);
  return names;
}
