import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { useBuiltPetstore } from "../packages/cli/test/support/built-petstore.js";
import { newDatabase, skipWithout } from "../packages/cli/test/support/command.js";
import { startPostgres } from "../packages/storage-postgres/test/support/postgres-server.js";
import { publishedNames } from "./packages.js";
import { inCi } from "./test-size.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = useBuiltPetstore();

/** What is there before the first block of a document, in `petstore.db` and in PostgreSQL. */
const BEFORE: Readonly<Record<string, string>> = {
  "docs/operating.md": `echo '{"name":"Rex","categoryId":7,"status":"sold"}' | petstore pets import -
    ID=$(petstore keys issue --plan free --json | grep --only-matching 'key_[0-9A-Za-z]*' | head --lines 1)
    HINT=$(petstore keys find "$ID" --json | grep --only-matching 'pet_live_[0-9A-Za-z]*' | head --lines 1)`,
  "docs/postgres.md": `petstore keys issue --plan free
    echo '{"name":"Rex","categoryId":7}' | petstore pets import -
    psql "$SERVER" --command "create role petstore_server"`,
};

/** A block, and what a comment before it says: which file tests it, or why it cannot run. */
const BLOCK = /(?:<!-- (?:tested by (\S+)|(cannot run: .+?)) -->\n\n)?^```(\w*)\n(.*?)^```/gms;
const URL_IN_DOCUMENTS = "postgres://petstore@db.internal/petstore";

it.runIf(inCi).for(Object.keys(BEFORE))(
  "the blocks of %s run, from top to bottom",
  async (document, { skip }) => {
    const text = readFileSync(join(root, document), "utf8");
    let [url, script] = ["", BEFORE[document] ?? ""];
    for (const [block, file, reason, language, code = ""] of text.matchAll(BLOCK)) {
      if (file !== undefined) expect(existsSync(join(root, file)), file).toBe(true);
      if (file !== undefined || reason !== undefined) continue;
      expect(block).toMatch(/```(?:sh|sql)\n/);
      script +=
        language === "sql"
          ? `\npsql --set ON_ERROR_STOP=1 "$SERVER" <<'END'\n${code}END\n`
          : `\n${code}`;
    }
    if (script.includes(URL_IN_DOCUMENTS)) {
      skipWithout("psql", skip, "postgresql-client");
      url = (await startPostgres()).url();
      script = script.replaceAll(URL_IN_DOCUMENTS, url);
    }

    const cwd = dirname(newDatabase());
    const commands = join(cwd, "bin");
    mkdirSync(commands);
    const command = `#!/bin/sh\nexec "${process.execPath}" "${program()}" "$@"\n`;
    writeFileSync(join(commands, "petstore"), command, { mode: 0o755 });
    const PATH = `${commands}${delimiter}${process.env["PATH"]}`;
    const env = { ...process.env, PATH, NODE_PATH: "", SERVER: url };
    const { status, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
      cwd,
      env,
      encoding: "utf8",
    });
    expect(status, `${script}\n${stderr}`).toBe(0);
  },
);

const documents = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`),
  ...publishedNames.map((name) => `packages/${name}/README.md`),
].filter((document) => document.endsWith(".md") && BEFORE[document] === undefined);

it.each(documents)("%s says why its shell blocks do not run, but for curl", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  if (text.startsWith("<!-- no block can run: ")) return;
  for (const [block, file, reason, language, code] of text.matchAll(BLOCK)) {
    if (file !== undefined || reason !== undefined || !/^(?:sh|sql)$/.test(language ?? ""))
      continue;
    // `documents.test.ts` runs these.
    expect(code, block).toContain("curl ");
  }
});
