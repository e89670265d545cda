import { expect, test } from "vitest";
import { indentJson, sessionKey } from "../src/serve/docs/page/plugins.js";

test.each(["[]", '{"a":[{}, [ ],{"b":-1.5}],"c":"[{,:}\\"\\\\"}', '"text"', "null", "[1,2]"])(
  "%s is indented as JSON.stringify does",
  (text) => {
    expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, "  "));
  },
);

test("every digit is kept", () => {
  expect(indentJson('{"id":9223372036854775807,"n":1.0}')).toBe(
    '{\n  "id": 9223372036854775807,\n  "n": 1.0\n}',
  );
});

test("a key is kept in the session storage, and restored when the page is loaded again", () => {
  const items = new Map<string, string>();
  const getItem = (name: string) => items.get(name) ?? null;
  const setItem = (name: string, value: string) => void items.set(name, value);
  const restored: unknown[] = [];
  const system = {
    React: { createElement: () => undefined },
    authActions: { restoreAuthorization: (payload: unknown) => void restored.push(payload) },
    authSelectors: { authorized: () => ({ apiKey: "pet_live_x" }) },
  };
  const plugin = sessionKey({ getItem, setItem });
  plugin.afterLoad(system);
  plugin.statePlugins.auth.wrapActions.persistAuthorizationIfNeeded(undefined, system)();
  plugin.afterLoad(system);
  expect(restored).toEqual([{ authorized: { apiKey: "pet_live_x" } }]);
});
