// Not public: what only the packages of this repository use. Any release may change or remove it.
export { methodNotAllowed, type ResponseError } from "./error.js";
export { SERVER_LIMITS } from "./node/server.js";
export { isOrigin } from "./options.js";
export { deprecationHeaders } from "./response/render.js";
export { originForm } from "./request/route.js";
