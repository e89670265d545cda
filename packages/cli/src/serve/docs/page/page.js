// The page's own script: shows openapi.json, next to the page, with Swagger UI.
import { exactNumbers } from "./exact-numbers.js";

/**
 * @typedef {object} Page
 * @property {(options: Readonly<Record<string, unknown>>) => unknown} SwaggerUIBundle
 */

const { SwaggerUIBundle } = /** @type {Page} */ (/** @type {unknown} */ (globalThis));

SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.json",
  // The validator's badge would send the document's URL to another host.
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  plugins: [exactNumbers],
});
