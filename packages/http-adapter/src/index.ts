export type { CorsOptions } from "./cors.js";
export { statusOf, type Failure, type HttpError } from "./error.js";
export { createFetchHandler, type FetchHandler, type FetchOptions } from "./fetch.js";
export { decodeJson, encodePet } from "./json.js";
export { clientAddressBehind, type FindClientAddress } from "./node/client-address.js";
export { petStorePlugin, type PetStorePluginOptions } from "./node/fastify.js";
export { createNodeHandler, type NodeHandler, type NodeOptions } from "./node/handler.js";
export { mount, type NodeServer } from "./node/mount.js";
export {
  createPetStoreServer,
  SERVER_LIMITS,
  type PetStoreServer,
  type PetStoreServerOptions,
  type ServerLimits,
} from "./node/server.js";
export { openApiDocument, type OpenApiDocument } from "./openapi/document.js";
export type { HttpOptions } from "./options.js";
export type { RateLimitFields } from "./render.js";
export type { ResponseReport } from "./report.js";
export { originForm, type OperationName } from "./route.js";
