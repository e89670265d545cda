export { createFetchHandler, type FetchHandler } from "./fetch/handler.js";
export type { FetchOptions } from "./fetch/options.js";
export { createNodeHandler, type NodeHandler } from "./node/handler.js";
export { mount, type NodeServer } from "./node/mount.js";
export type { NodeOptions } from "./node/options.js";
export type { Refusal } from "./refusal.js";
export type { HttpOptions } from "./settings.js";
export { statusOf, type Failure } from "./status.js";
