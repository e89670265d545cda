/**
 * The dependency "npm-install" of the root is a message to people who type `npm install`: npm prints it and stops,
 * before the protocol "workspace:", which it does not know, makes it print something else.
 *
 * Of better-sqlite3, version 12 is for Node 20 alone: 13, which newer versions use, is not compiled. pnpm
 * skips an optional dependency whose `engines` do not fit.
 */
function readPackage(manifest) {
  if (manifest.name === "petstore") delete manifest.dependencies;
  if (manifest.name === "better-sqlite3" && manifest.version.startsWith("12.")) {
    manifest.engines = { node: "<22" };
  }
  return manifest;
}

module.exports = { hooks: { readPackage } };
