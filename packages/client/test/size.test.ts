import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleClient } from "./support/bundle.js";

test("the client with neverthrow is at most 9 KB minified and gzipped, and has nothing else in it", async () => {
  const { code, files } = await bundleClient();
  expect(gzipSync(code).length).toBeLessThanOrEqual(9_000);
  const others = files.filter((file) => !/packages\/client\/src\/|\/neverthrow\//.test(`/${file}`));
  expect(others).toEqual([]);
});
