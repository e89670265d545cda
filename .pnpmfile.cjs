/**
 * Of better-sqlite3, version 12 is for Node 20 alone: 13, which newer versions use, is not compiled. pnpm
 * skips an optional dependency whose `engines` do not fit.
 */
function readPackage(manifest) {
  if (manifest.name === "better-sqlite3" && manifest.version.startsWith("12.")) {
    manifest.engines = { node: "<22" };
  }
  return manifest;
}

module.exports = { hooks: { readPackage } };
