// Our plugins for Swagger UI.

/**
 * @typedef {(...args: readonly unknown[]) => unknown} Component
 *
 * @typedef {object} System
 * @property {{ createElement: (type: unknown, props: object | null, ...children: unknown[]) => unknown }} React
 * @property {(name: string, isContainer?: boolean) => Component} getComponent
 * @property {Record<"clearRequest" | "clearResponse", (path: string, method: string) => void>} specActions
 * @property {{ restoreAuthorization: (payload: { readonly authorized: unknown }) => void }} authActions
 * @property {{ authorized: () => unknown }} authSelectors
 *
 * @typedef {(Original: Component, system: System) => unknown} Wrapper
 * @typedef {(pathAndMethod: [string, string]) => unknown} Validate
 *
 * @typedef {object} Storage
 * @property {(name: string) => string | null} getItem
 * @property {(name: string, value: string) => void} setItem
 */

/**
 * Returns a plugin that shows response bodies indented, with every digit: Swagger UI shows JSON after JSON.parse, which
 * rounds an int64.
 */
export function exactNumbers() {
  return {
    wrapComponents: {
      /** @type {Wrapper} */
      responseBody: (Original, { React, getComponent }) =>
        /** @param {{ readonly content: unknown, readonly contentType?: string }} props */
        function ExactResponseBody(props) {
          const { content, contentType = "" } = props;
          if (content === "") return null;
          if (typeof content !== "string" || !contentType.includes("json")) {
            return React.createElement(Original, props);
          }
          const code = {
            language: "json",
            canCopy: true,
            downloadable: true,
            fileName: "body.json",
          };
          return React.createElement(
            "div",
            null,
            React.createElement("h5", null, "Response body"),
            React.createElement(getComponent("HighlightCode", true), code, indentJson(content)),
          );
        },
    },
  };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/**
 * Indents JSON text without other changes: numbers keep all their digits.
 *
 * @param {string} text
 */
export function indentJson(text) {
  let depth = 0;
  let indented = "";
  let previous = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === "]" || token === "}";
    const isFirst = previous === "[" || previous === "{";
    if (isEnd) depth -= 1;
    if (isEnd ? !isFirst : isFirst || previous === ",") indented += `\n${"  ".repeat(depth)}`;
    indented += token === ":" ? ": " : token;
    if (token === "[" || token === "{") depth += 1;
    previous = token;
  }
  return indented;
}

/** Returns a plugin that removes the last response before the form is checked and may be refused. */
export function freshResponse() {
  /** @type {(validate: Validate, system: System) => Validate} */
  const validateParams =
    (validate, { specActions }) =>
    (pathAndMethod) => {
      specActions.clearRequest(...pathAndMethod);
      specActions.clearResponse(...pathAndMethod);
      return validate(pathAndMethod);
    };
  return { statePlugins: { spec: { wrapActions: { validateParams } } } };
}

const ITEM = "petstore: authorized";

/**
 * Returns a plugin that keeps the API key in the session storage, until the tab is closed, and shows a note that says so.
 * Swagger UI forgets the key when the page is loaded again, or keeps it for good. Where the browser refuses the storage,
 * the key is kept until the page is left.
 *
 * @param {() => Storage} storage
 */
export function sessionKey(storage) {
  const isRefused = attempt(() => storage().getItem(ITEM)) === undefined;
  return {
    /** @param {System} system */
    afterLoad: ({ authActions }) => {
      const authorized = attempt(() => JSON.parse(storage().getItem(ITEM) ?? "null"));
      if (authorized) authActions.restoreAuthorization({ authorized });
    },
    statePlugins: {
      auth: {
        wrapActions: {
          /** @type {(original: unknown, system: System) => () => void} */
          persistAuthorizationIfNeeded:
            (_, { authSelectors }) =>
            () =>
              attempt(() => storage().setItem(ITEM, JSON.stringify(authSelectors.authorized()))),
        },
      },
    },
    wrapComponents: {
      /** @type {Wrapper} */
      authorizeBtn: (Original, { React }) =>
        /** @param {object} props */
        function AuthorizeWithNote(props) {
          return React.createElement(
            "div",
            { className: "authorize-with-note" },
            React.createElement("p", null, isRefused ? NOTE_WITHOUT_STORAGE : NOTE),
            React.createElement(Original, props),
          );
        },
    },
  };
}

/**
 * Returns what the function returns, `undefined` if it throws.
 *
 * @template T
 * @param {() => T} run
 */
function attempt(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const NOTE = "This tab keeps your key until you log out or close it.";
const NOTE_WITHOUT_STORAGE = "This page keeps your key until you leave or reload it.";
