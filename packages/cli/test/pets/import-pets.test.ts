import { createPetStore, type TrustedPets } from "@petstore/core";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { addBatch, type UntrustedPets } from "../../src/pets/add-batch.js";
import { importPets, type Imported, type ImportPlan } from "../../src/pets/import-pets.js";
import { ndjson } from "../../src/pets/ndjson.js";

const REX = '{"name":"Rex","categoryId":1}\n';

/** Imports so many good lines that are read at once, two in a batch. */
async function importing(
  lines: number,
  different: Partial<ImportPlan>,
): Promise<{ readonly imported: Imported; readonly trusted: TrustedPets }> {
  const { trusted } = createPetStore();
  async function* read(): AsyncGenerator<Buffer, void> {
    yield await Promise.resolve(Buffer.from(REX.repeat(lines)));
  }
  const imported = await importPets(trusted, read(), {
    format: ndjson,
    batchSize: 2,
    fromLine: 1,
    onBatch: () => Promise.resolve(ok()),
    stop: new AbortController().signal,
    ...different,
  });
  return { imported, trusted };
}

describe("an import", () => {
  it("that is told to stop adds no further batch, also of what is read already", async () => {
    const controller = new AbortController();
    const { imported, trusted } = await importing(6, {
      stop: controller.signal,
      onBatch: () => {
        controller.abort();
        return Promise.resolve(ok());
      },
    });
    expect(imported).toMatchObject({ pets: 2, nextLine: 3, stopped: "It was told to." });
    expect((await trusted.listPets())._unsafeUnwrap().pets).toHaveLength(2);
  });

  it("that stops before the line it was to begin with goes on from there", async () => {
    const { imported } = await importing(6, {
      fromLine: 5,
      onBatch: () => Promise.resolve(err("no")),
    });
    expect(imported).toEqual({ pets: 0, bad: 0, nextLine: 5, stopped: "no", canGoOn: true });
  });
});

it("a batch that the store refuses as a whole is not tried again", async () => {
  const { trusted } = createPetStore();
  let calls = 0;
  const store: UntrustedPets = {
    createPets: (inputs) => {
      calls += 1;
      if (calls > 1) throw new Error("It is tried again.");
      return trusted.createPets(inputs as Parameters<TrustedPets["createPets"]>[0]);
    },
  };
  const entry = { first: 1, last: 1, bytes: Buffer.from(REX) };
  const decode = ndjson.open(undefined)._unsafeUnwrap();
  const refused = await addBatch(store, decode, Array<typeof entry>(1_001).fill(entry));
  expect(refused._unsafeUnwrapErr()).toContain("at most 1000 pets can be added at once");
});
