export { runCommand } from "./run-command.js";
export type { Streams } from "./streams.js";
export type { Terminal } from "./terminal.js";
