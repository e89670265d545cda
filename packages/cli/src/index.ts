export { runCommand } from "./run-command.js";
export type { Terminal } from "./terminal.js";
