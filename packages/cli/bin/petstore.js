#!/usr/bin/env node
// Committed, so that the package manager can link the command before the first build.
import { existsSync } from "node:fs";

const program = new URL("../dist/bin.js", import.meta.url);

if (existsSync(program)) {
  await import(program.href);
} else {
  console.error("petstore: not built yet; run `npm run build` first.");
  process.exitCode = 1;
}
