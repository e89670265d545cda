export { createConsole, type ConsoleHandler } from "./create-console.js";
export type { ConsoleEvent, ConsoleOptions } from "./settings.js";
