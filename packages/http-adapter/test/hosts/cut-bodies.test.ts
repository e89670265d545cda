import type { PetStore } from "@petstore/core";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { cutsAtEvery, deliveries, petNamed, petWith, sendPieces } from "../support/cut-body.js";
import { issue, slowToAdmit } from "../support/serve.js";
import { startHost } from "./host.js";
import { hosts } from "./hosts.js";

/** For how many turns of the event loop a store takes its time before it admits a request. */
const SLOWNESSES = [0, 4];

/** Bodies are cut at every which place, in every which host: at and in each of them in CI. */
const cuts = cutsAtEvery(sized(7, 1, 1));
const TRIED = hosts.filter((_, index) => index % sized(2, 1, 1) === 0);
const UNLIMITED = { perMinute: 1e6, perDay: 1e6 };

describe.each(SLOWNESSES)("while the store takes %i turns to admit a request", (turns) => {
  test.each(TRIED)("$name stores what is sent, wherever it is cut", async (host) => {
    const { store, dial } = await startHost(host, { storage: slowToAdmit(turns) });
    const head = {
      key: await issue(store, UNLIMITED),
      path: `${host.basePath}/pets`,
      method: "POST",
    };
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
});

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
