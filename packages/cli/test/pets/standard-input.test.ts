import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { newDatabase } from "../support/command.js";

const program = useBuiltPetstore();

it("an import from a folder as its standard input fails, and says so", async () => {
  const folder = openSync(tmpdir(), "r");
  const args = [program(), "pets", "import", "-", "--database", newDatabase()];
  const child = spawn(process.execPath, args, { stdio: [folder, "pipe", "pipe"] });
  closeSync(folder);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as unknown[];
  expect({ code, output }).toEqual({
    code: 1,
    output: "petstore: cannot read the standard input: it is a folder\n",
  });
});
