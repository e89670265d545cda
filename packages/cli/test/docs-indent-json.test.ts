import { expect, test } from "vitest";
import { indentJson } from "../src/serve/docs/page/plugins.js";

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
