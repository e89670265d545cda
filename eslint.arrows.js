// Who may import whom. Every ban carries its reason, and counts type imports.
import { packageNames } from "./scripts/packages.js";

/** @typedef {{ regex: string, message: string, allowTypeImports?: boolean }} Ban */

/** @type {Ban} */
const ownIndex = {
  regex: String.raw`^(\.{1,2}/)+(index(\.[jt]s)?)?$|^\.{1,2}(/\.\.)*$`,
  message: "index.ts is the door for others: inside the package import the file that has the name.",
};

/** @type {Ban} */
const deepPath = {
  regex: "^@petstore/[^/]+/(?!package\\.json$|storage$|internal$|facts$)",
  message: "A package is only what its index.ts exports: import the package by its bare name.",
};

/** @type {Ban} */
const internal = {
  regex: "^@petstore/[^/]+/(internal|facts)$",
  message: "What is internal is no example: import what the package's users can import.",
};

/** @type {Ban} */
const otherSource = {
  regex: String.raw`^(\.\./)+(packages|${packageNames.join("|")})(/(src|dist)(/|$)|$)|^(\.\./)+(src|dist)(/|$)`,
  message: "Another package's files are not ours to reach into: import its name (@petstore/…).",
};

/** @type {Ban} */
const operations = {
  regex: String.raw`^\.{1,2}/(.+/)?operations(/|$)`,
  message:
    "Arrows run one way: pets, keys, limits ← operations ← create-pet-store. What operations share belongs below them.",
};

/** @type {Ban} */
const compositionRoot = {
  regex: String.raw`^\.{1,2}/(.+/)?create-pet-store(\.[jt]s)?$`,
  message:
    "create-pet-store is the composition root: it imports everything, and only index.ts imports it.",
};

/** @type {Ban} */
const nodeServer = {
  regex: "^(node:)?(http|http2|https|net|tls)$",
  message: "The engine knows no transport: HTTP only translates it, in http-adapter.",
};

/** @type {Ban} */
const database = {
  regex: "^(better-sqlite3|pg|kysely|@petstore/storage-sql)(/|$)",
  message:
    "SQL lives in storage-sqlite and storage-postgres: everyone else speaks to the Storage port of @petstore/core.",
};

/** @type {Ban} */
const engine = {
  regex: "^@petstore/core$",
  allowTypeImports: true,
  message:
    "The root of core loads the engine: import its types, and values of @petstore/core/facts.",
};

/** @type {readonly Ban[]} */
const storage = [
  others("http-adapter|cli", "A storage serves core alone: no transport, no command line."),
  others("storage-contract", "The contract is a test suite: it belongs in test/, not in src/."),
  nodeServer,
];

/** @type {Record<string, readonly Ban[]>} */
const bansByPackage = {
  core: [
    {
      regex: "^@petstore/",
      message: "Every package imports core, so core imports no package.",
    },
    nodeServer,
    database,
  ],
  "http-adapter": [
    others(
      "storage-.*|cli",
      "The adapter mounts a PetStore and never learns which storage is behind.",
    ),
    database,
  ],
  "storage-sql": [
    others(
      "(?!core(?:/|$)).*",
      "The SQL storages import what they share, and it knows neither of them.",
    ),
    { regex: "^(better-sqlite3|pg)(/|$)", message: "A driver belongs to one storage." },
    nodeServer,
  ],
  "storage-sqlite": [
    others("storage-postgres", "The storages share only storage-sql."),
    { regex: "^pg(/|$)", message: "pg belongs to storage-postgres." },
    ...storage,
  ],
  "storage-postgres": [
    others("storage-sqlite", "The storages share only storage-sql."),
    { regex: "^better-sqlite3(/|$)", message: "better-sqlite3 belongs to storage-sqlite." },
    ...storage,
  ],
  "storage-contract": [
    others(
      "(?!core(?:/|$)).*",
      "The contract states the requirements of core's port and knows no storage.",
    ),
    nodeServer,
    database,
  ],
  wire: [
    others(
      "(?!core$|core/facts$).*",
      "The client bundles it: it knows core only as types and facts.",
    ),
    engine,
    { regex: "^node:", message: "The client bundles it, and runs wherever there is fetch." },
  ],
  client: [
    {
      regex: "^node:",
      message: "The client runs wherever there is fetch: it imports nothing of Node.",
    },
    others(
      "(?!core$|core/facts$|wire$).*",
      "The client knows the service only through HTTP, and core only as types and facts.",
    ),
    engine,
    nodeServer,
    database,
  ],
  console: [
    others(
      "(?!core(?:/|$)|wire$).*",
      "The console is a handler for any host: it knows the engine, and no server or storage.",
    ),
    { regex: "^node:", message: "The console runs in every host that has Request and Response." },
    nodeServer,
    database,
  ],
  cli: [database],
};

/** @type {import("eslint").Linter.Config[]} */
export const arrows = [
  {
    files: ["packages/*/test/**", "benchmarks/**"],
    rules: forbid([deepPath]),
  },
  {
    files: ["examples/**"],
    rules: forbid([deepPath, internal]),
  },
  ...packageNames.map((name) => ({
    files: [`packages/${name}/src/**`],
    rules: forbid(bansOf(name)),
  })),
  {
    files: ["packages/core/src/**"],
    ignores: ["packages/core/src/{create-pet-store,index}.ts"],
    rules: forbid([...bansOf("core"), compositionRoot, operations]),
  },
  {
    files: ["packages/core/src/operations/**"],
    rules: forbid([...bansOf("core"), compositionRoot]),
  },
];

/** @param {string} name */
function bansOf(name) {
  const itself = others(name, "A package that imports its own name imports its own index.ts.");
  return [ownIndex, itself, deepPath, otherSource, ...(bansByPackage[name] ?? [])];
}

/**
 * @param {string} names a regular expression
 * @param {string} message
 * @returns {Ban}
 */
function others(names, message) {
  return { regex: `^@petstore/(${names})(/|$)`, message };
}

/**
 * @param {readonly Ban[]} patterns
 * @returns {import("eslint").Linter.RulesRecord}
 */
function forbid(patterns) {
  return { "no-restricted-imports": ["error", { patterns: [...patterns] }] };
}
