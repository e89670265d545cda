export { createFetchHandler, type FetchHandler } from "./fetch/handler.js";
export type { FetchOptions } from "./fetch/options.js";
export { petStorePlugin, type PetStorePluginOptions } from "./fastify/plugin.js";
export { createKoaMiddleware, type KoaMiddleware } from "./koa/middleware.js";
export { decodeJson } from "./json/decode.js";
export { encodePet } from "./json/encode.js";
export { createNodeHandler, type NodeHandler } from "./node/handler.js";
export { handleClientErrors } from "./node/handle-client-errors.js";
export { createHardenedServer, SERVER_LIMITS, type ServerLimits } from "./node/hardened-server.js";
export { mount, type MountOptions, type NodeServer } from "./node/mount.js";
export type { NodeOptions } from "./node/options.js";
export {
  encodeOpenApiDocument,
  openApiDocument,
  type OpenApiDocument,
} from "./openapi/document.js";
export type { Refusal } from "./refusal.js";
export type { HttpOptions } from "./settings.js";
export { statusOf, type Failure } from "./status.js";
