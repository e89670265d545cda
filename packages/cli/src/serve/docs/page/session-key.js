// Swagger UI forgets the API key when the page is loaded again, or keeps it for good. This plugin keeps
// it in the session storage: for the tab, until it is closed.

/**
 * @typedef {object} Storage
 * @property {(name: string) => string | null} getItem
 * @property {(name: string, value: string) => void} setItem
 *
 * @typedef {(...args: readonly unknown[]) => unknown} Component
 * @typedef {object} System
 * @property {{ createElement: (type: unknown, props: object | null, ...children: unknown[]) => unknown }} React
 * @property {{ restoreAuthorization: (payload: { readonly authorized: unknown }) => void }} authActions
 * @property {{ authorized: () => unknown }} authSelectors
 */

const ITEM = "petstore: authorized";

/**
 * Returns a plugin that keeps the API key until the tab is closed, and shows a note that says so.
 *
 * @param {Storage} storage
 */
export function sessionKey(storage) {
  return {
    /** @param {System} system */
    afterLoad: ({ authActions }) => {
      const authorized = storage.getItem(ITEM);
      if (authorized !== null) {
        authActions.restoreAuthorization({ authorized: JSON.parse(authorized) });
      }
    },
    statePlugins: {
      auth: {
        wrapActions: {
          /**
           * @param {unknown} _
           * @param {System} system
           */
          persistAuthorizationIfNeeded: (_, { authSelectors }) => {
            return () => storage.setItem(ITEM, JSON.stringify(authSelectors.authorized()));
          },
        },
      },
    },
    wrapComponents: {
      /**
       * @param {Component} Original
       * @param {System} system
       */
      authorizeBtn: (Original, { React }) =>
        /** @param {object} props */
        function AuthorizeWithNote(props) {
          return React.createElement(
            "div",
            { className: "authorize-with-note" },
            React.createElement("p", null, NOTE),
            React.createElement(Original, props),
          );
        },
    },
  };
}

const NOTE = "This tab keeps your key until you log out or close it.";
