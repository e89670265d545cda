import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageNames } from "./packages.js";

/** A package's root, and the subpath for authors of storages. Nobody else imports what is internal. */
const DOORS = ["index.ts", "storage.ts"];

interface Manifest {
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
}

const published = packageNames
  .map((name) => {
    const folder = new URL(`../packages/${name}/`, import.meta.url);
    const text = readFileSync(new URL("package.json", folder), "utf8");
    const manifest = JSON.parse(text) as Manifest;
    return { name, folder, manifest };
  })
  .filter(({ manifest }) => manifest.private !== true);

const doors = published.flatMap(({ name, folder }) =>
  readdirSync(new URL("src/", folder))
    .filter((file) => DOORS.includes(file))
    .map((file) => ({ door: `${name}/${file}`, names: namesIn(new URL(`src/${file}`, folder)) })),
);

/** The names that a file of nothing but lists of exports exports. */
function namesIn(file: URL): readonly string[] {
  const code = readFileSync(file, "utf8").replaceAll(/^\/\/.*$/gm, "");
  const lists = [...code.matchAll(/export (?:type )?\{([^}]*)\} from "[^"]+";/g)];
  expect(code.replaceAll(/export (?:type )?\{[^}]*\} from "[^"]+";/g, "").trim()).toBe("");
  return lists.flatMap(([, list = ""]) => list.match(/\w+(?=\s*(?:,|$))/g) ?? []);
}

test("the root of core exports at most 65 names, and all packages together at most 130", () => {
  const ofCore = doors.find(({ door }) => door === "core/index.ts");
  expect(ofCore?.names.length).toBeGreaterThan(40);
  expect(ofCore?.names.length).toBeLessThanOrEqual(65);
  expect(doors.flatMap(({ names }) => names).length).toBeLessThanOrEqual(130);
});

test("each file that a package exports is one of its entries", () => {
  for (const { folder, manifest } of published) {
    const entries = readdirSync(new URL("src/", folder))
      .filter((file) => [...DOORS, "internal.ts", "facts.ts"].includes(file))
      .map((file) => (file === "index.ts" ? "." : `./${file.replace(".ts", "")}`));
    expect(Object.keys(manifest.exports).sort()).toEqual([...entries, "./package.json"].sort());
  }
});
