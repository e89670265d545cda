// Swagger UI shows JSON after JSON.parse, which rounds an int64. This plugin shows the original text.

/**
 * @typedef {(...args: readonly unknown[]) => unknown} Component
 * @typedef {{ readonly content: unknown, readonly contentType?: string }} BodyProps
 * @typedef {object} System
 * @property {{ createElement: (type: unknown, props: object | null, ...children: unknown[]) => unknown }} React
 * @property {(name: string, isContainer?: boolean) => Component} getComponent
 */

/** Returns a plugin that shows response bodies indented, with every digit. */
export function exactNumbers() {
  return {
    wrapComponents: {
      /**
       * @param {Component} Original
       * @param {System} system
       */
      responseBody: (Original, { React, getComponent }) =>
        /** @param {BodyProps} props */
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
