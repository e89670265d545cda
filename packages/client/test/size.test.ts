import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleClient } from "./support/bundle.js";

const EXPECTED =
  /packages\/(?:client|wire)\/src\/|\/core\/src\/(?:operations|facts|validation\/(?:fields|text)|manual-clock|limits\/windows|pets\/(?:int64|pet-status))\.ts$|\/(?:neverthrow|lossless-json)\//;

test("the client with its libraries is at most 12 KB minified and gzipped, and has nothing of the engine in it", async () => {
  const { code, files } = await bundleClient();
  expect(gzipSync(code).length).toBeLessThanOrEqual(12_000);
  expect(files.filter((file) => !EXPECTED.test(`/${file}`))).toEqual([]);
});
