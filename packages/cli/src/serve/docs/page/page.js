// The page's own script: shows openapi.json, next to the page, with Swagger UI.
import { exactNumbers, freshResponse, sessionKey } from "./plugins.js";

/**
 * @typedef {object} Page
 * @property {(options: Readonly<Record<string, unknown>>) => unknown} SwaggerUIBundle
 * @property {{ documentElement: { classList: { toggle: (name: string, isOn: boolean) => void } } }} document
 * @property {(query: string) => EventTarget & { readonly matches: boolean }} matchMedia
 * @property {import("./plugins.js").Storage} sessionStorage Its getter throws where site data is blocked.
 */

const page = /** @type {Page} */ (/** @type {unknown} */ (globalThis));

const dark = page.matchMedia("(prefers-color-scheme: dark)");
function followColorScheme() {
  page.document.documentElement.classList.toggle("dark-mode", dark.matches);
}
followColorScheme();
dark.addEventListener("change", followColorScheme);

page.SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.json",
  // The validator's badge would send the document's URL to another host.
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  plugins: [exactNumbers, freshResponse, sessionKey(() => page.sessionStorage)],
});
