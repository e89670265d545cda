// Swagger UI shows JSON after JSON.parse, which rounds an int64. This plugin shows the original text.
import { indentJson } from "./indent-json.js";

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
