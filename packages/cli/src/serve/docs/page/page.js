// The page's own script: shows openapi.json, next to the page, with Swagger UI.
import { exactNumbers } from "./exact-numbers.js";
import { sessionKey } from "./session-key.js";

/**
 * @typedef {object} Page
 * @property {(options: Readonly<Record<string, unknown>>) => unknown} SwaggerUIBundle
 * @property {{ documentElement: { classList: { toggle: (name: string, isOn: boolean) => void } } }} document
 * @property {(query: string) => EventTarget & { readonly matches: boolean }} matchMedia
 * @property {import("./session-key.js").Storage} sessionStorage
 *
 * @typedef {object} SpecActions
 * @property {(path: string, method: string) => void} clearRequest
 * @property {(path: string, method: string) => void} clearResponse
 */

const page = /** @type {Page} */ (/** @type {unknown} */ (globalThis));

const dark = page.matchMedia("(prefers-color-scheme: dark)");
function followColorScheme() {
  page.document.documentElement.classList.toggle("dark-mode", dark.matches);
}
followColorScheme();
dark.addEventListener("change", followColorScheme);

/** Returns a plugin that removes the last response before the form is checked and may be refused. */
function freshResponse() {
  /**
   * @param {(pathAndMethod: [string, string]) => unknown} validate
   * @param {{ specActions: SpecActions }} system
   */
  const validateParams =
    (validate, { specActions }) =>
    /** @param {[string, string]} pathAndMethod */
    (pathAndMethod) => {
      specActions.clearRequest(...pathAndMethod);
      specActions.clearResponse(...pathAndMethod);
      return validate(pathAndMethod);
    };
  return { statePlugins: { spec: { wrapActions: { validateParams } } } };
}

page.SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.json",
  // The validator's badge would send the document's URL to another host.
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  plugins: [exactNumbers, freshResponse, sessionKey(page.sessionStorage)],
});
