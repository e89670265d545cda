import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export async function bundleClient(format: "esm" | "iife" = "esm") {
  const built = await build({
    entryPoints: [fileURLToPath(new URL("../../src/index.ts", import.meta.url))],
    ...{ bundle: true, minify: true, write: false, metafile: true },
    ...{ format, globalName: "petstore", platform: "browser", target: "es2022" },
  });
  const [file] = built.outputFiles;
  return { code: file?.contents ?? new Uint8Array(), files: Object.keys(built.metafile.inputs) };
}
