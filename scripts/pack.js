// Packs every package that is published into dist/, as a release would. The packages must be built.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const destination = join(root, "dist");

rmSync(destination, { recursive: true, force: true });
const pnpm = [
  join(root, "scripts/pnpm.js"),
  "--silent",
  "--filter",
  "./packages/*",
  "--filter",
  "!@petstore/storage-sql",
];
process.exitCode = await run(
  process.execPath,
  [...pnpm, "pack", "--pack-destination", destination],
  { cwd: root },
);
