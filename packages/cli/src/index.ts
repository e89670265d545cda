export { runCommand } from "./run-command.js";
export type { Streams, Terminal } from "./terminal.js";
