// Bundles own-server.js with one bundler, into a folder.
import { promisify } from "node:util";

const [bundler, folder] = process.argv.slice(2);
const entry = "./own-server.js";
if (bundler === "esbuild") {
  const { build } = await import("esbuild");
  const outfile = `${folder}/server.mjs`;
  const options = { bundle: true, minify: true, format: "esm", platform: "node" };
  await build({ entryPoints: [entry], outfile, ...options });
} else {
  const { default: webpack, rspack = webpack } = await import(bundler);
  const stats = await promisify(rspack)({
    entry,
    target: "node20",
    mode: "production",
    experiments: { outputModule: true },
    output: { path: folder, filename: "server.mjs", module: true, library: { type: "module" } },
  });
  if (stats.hasErrors()) throw new Error(stats.toString());
}
