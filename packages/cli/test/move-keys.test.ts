import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore, petstoreReading } from "./support/command.js";

const program = useBuiltPetstore();

/** Labels of which JSON keeps every character, and some readers of lines take one for a line break. */
const LABELS = ["two\u2028lines", "two\u2029lines", "a\u0085b\u000bc\u000cd", "🐈"];

it.each([1, 3, 100_000])(
  "keys move with any label, in chunks of %i bytes, with CRLF too",
  async (size) => {
    const from = newDatabase();
    for (const label of LABELS) await issueKey(from, "--label", label);
    const { out } = await petstore("keys", "export", "--database", from);
    const bytes = Buffer.from(out.replaceAll("\n", "\r\n"));
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const at = ["--database", newDatabase()];
    const imported = await petstoreReading(chunks, "keys", "import", "-", ...at);
    expect(imported).toMatchObject({ code: 0, out: "imported 4 keys" });
    const listed = JSON.parse((await petstore("keys", "list", "--json", ...at)).out) as unknown;
    expect(listed).toMatchObject(LABELS.map((label) => ({ label })));
  },
);

it("a wrong line ends the command, also while its input stays open", async () => {
  const args = [program(), "keys", "import", "-", "--database", newDatabase()];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let error = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
  child.stdin.write("\n{}\n");
  expect(await once(child, "close")).toEqual([1, null]);
  expect(error).toBe("petstore: line 2 is not a key that `keys export` has printed: id\n");
});

it("a file that is not keys is refused in one line", async () => {
  const file = `${newDatabase()}.keys`;
  writeFileSync(file, `${"x".repeat(3_000_000)}\n{}`);
  expect(await petstore("keys", "import", file, "--database", newDatabase())).toMatchObject({
    code: 1,
    error: "petstore: line 1 is not a key that `keys export` has printed: it is not a JSON object",
  });
});
