import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import { publishedNames } from "./packages.js";
import { inCi } from "./test-size.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = [
  ...["docs/client.md", "docs/console.md", "docs/signals.md"],
  ...publishedNames.map((name) => `packages/${name}/README.md`),
];

/** A block, and a comment before it: the declarations that a reader supplies, or why it cannot run. */
const BLOCK = /(?:<!-- ([^\n]+) -->\n\n)?^```(\w*)\n(.*?)^```/gms;

it.runIf(inCi)(
  "the blocks of code of packages and guides compile, or say why they cannot run",
  () => {
    const sources = new Map<string, string>();
    for (const document of documents) {
      const text = readFileSync(join(root, document), "utf8");
      for (const [block, mark = "", language, code = ""] of text.matchAll(BLOCK)) {
        if (mark.startsWith("cannot run: ")) continue;
        expect(language, block).toBe("ts");
        sources.set(join(root, `${document}.${sources.size}.ts`), `${mark}\n${code}`);
      }
    }
    expect(sources.size).toBeGreaterThan(7);
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) =>
      ts.sys.readFile(path),
    ) as {
      config: { compilerOptions: object };
    };
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
    const files = ts.createCompilerHost(options);
    const host: ts.CompilerHost = {
      ...files,
      fileExists: (path) => sources.has(path) || files.fileExists(path),
      readFile: (path) => sources.get(path) ?? files.readFile(path),
      getSourceFile: (path, ...rest) => {
        const code = sources.get(path);
        return code === undefined
          ? files.getSourceFile(path, ...rest)
          : ts.createSourceFile(path, code, ts.ScriptTarget.ESNext);
      },
    };
    const program = ts.createProgram([...sources.keys()], options, host);
    const problems = [...sources.keys()].flatMap((path) => {
      const file = program.getSourceFile(path);
      return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    });
    expect(ts.formatDiagnostics(problems, host)).toBe("");
  },
);
