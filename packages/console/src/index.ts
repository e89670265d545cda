export type { ConsoleEvent } from "./calls.js";
export { createConsole, type ConsoleHandler } from "./create-console.js";
export type { ConsoleOptions } from "./settings.js";
