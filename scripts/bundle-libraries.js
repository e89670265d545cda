// An esbuild plugin for what a package bundles of others: leaves out their comments, which may be most
// of a library and would be read at every start, and puts their licences beside the bundle.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";

/** Not under a name with "license" in it: pnpm would then leave out the package's own. */
const NOTICES = "dist/notices";

/** @type {NonNullable<import("tsup").Options["esbuildPlugins"]>} */
export const bundleLibraries = [
  {
    name: "bundle-libraries",
    setup(build) {
      /** @type {Set<string>} */
      const libraries = new Set();
      /** @type {Set<string>} */
      const bundlers = new Set();

      build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
        libraries.add(folderOf(path));
        const source = await readFile(path, "utf8");
        const options = { minifyWhitespace: true, legalComments: /** @type {const} */ ("inline") };
        return { contents: (await build.esbuild.transform(source, options)).code };
      });
      // A package of this workspace brings the libraries that are bundled into it.
      build.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/]/ }, ({ path }) => {
        bundlers.add(path.slice(0, path.lastIndexOf(`${sep}dist${sep}`)));
        return undefined;
      });
      build.onEnd(() => {
        for (const folder of libraries) copyLicense(folder);
        for (const folder of bundlers) copyNotices(folder);
      });
    },
  },
];

/**
 * The folder of the package that a file in a `node_modules` belongs to.
 * @param {string} path
 */
function folderOf(path) {
  const [folder] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path) ?? [path];
  return folder;
}

/** @param {string} folder */
function copyLicense(folder) {
  /** @type {{ name: string }} */
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (license === undefined) throw new Error(`${name} brings no licence`);
  mkdirSync(NOTICES, { recursive: true });
  cpSync(join(folder, license), join(NOTICES, `${name.replace("/", "-")}.txt`));
}

/** @param {string} folder */
function copyNotices(folder) {
  const theirs = join(folder, NOTICES);
  if (existsSync(theirs)) cpSync(theirs, NOTICES, { recursive: true });
}
