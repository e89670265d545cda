// The pet store as an operator gets it: the command, with its docs page, health checks and request ids.
const { DATABASE = ":memory:" } = process.env;
process.argv.splice(2, Infinity, "serve", "--port", "0", "--database", DATABASE);
await import("../../../packages/cli/bin/petstore.js");
