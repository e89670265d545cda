export { statusOf } from "./error.js";
export { createFetchHandler, type FetchHandler, type FetchOptions } from "./fetch.js";
export { decodeJson } from "./request/body.js";
export { petStorePlugin } from "./node/fastify.js";
export { clientAddressBehind, createNodeHandler } from "./node/handler.js";
export type { NodeHandler, NodeOptions } from "./node/handler.js";
export { mount } from "./node/mount.js";
export {
  createPetStoreServer,
  type PetStoreServer,
  type PetStoreServerOptions,
} from "./node/server.js";
export { openApiDocument } from "./openapi/document.js";
export { encodePet } from "./response/render.js";
export type { ResponseReport } from "./response/report.js";
