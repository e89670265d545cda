import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { newDatabase, petstore, petstoreReading } from "./support/command.js";

useBuiltPetstore();

const PET = '{"name":"Rex","categoryId":1}\n';

it("restore puts a backup in place, and keeps the old database beside it", async () => {
  const database = newDatabase();
  const backup = join(dirname(database), "monday.db");
  const petsIn = async (file: string) =>
    (await petstore("pets", "export", "--database", file)).out.split("\n").filter(Boolean).length;
  await petstoreReading(PET, "pets", "import", "-", "--database", database);
  await petstore("backup", backup, "--database", database);
  await petstoreReading(PET, "pets", "import", "-", "--again", "--database", database);
  const restored = await petstore("restore", backup, "--database", database);
  expect(restored).toMatchObject({ code: 0, error: "" });
  const [, previous = ""] = /^restored .*\nthe old database is now (\S+)$/.exec(restored.out) ?? [];
  expect([await petsIn(database), await petsIn(previous)]).toEqual([1, 2]);
});

it.each(["1", ...(sized(0, 1, 1) > 0 ? ["2"] : [])])(
  "restore is refused while a server with --workers %s uses the database",
  async (workers) => {
    const database = newDatabase();
    const backup = join(dirname(database), "monday.db");
    const server = await startServer("--database", database, "--workers", workers);
    expect((await petstore("backup", backup, "--database", database)).code).toBe(0);
    expect(await petstore("restore", backup, "--database", database)).toEqual({
      code: 1,
      out: "",
      error: `petstore: ${database} was not restored from ${backup}: The database is in use: stop the servers and other commands on it first.`,
    });
    expect(await server.end()).toBe(0);
    expect((await petstore("restore", backup, "--database", database)).code).toBe(0);
  },
);
