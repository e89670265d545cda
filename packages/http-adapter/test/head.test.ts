import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

test.each([
  "/v1/pets",
  "/v1/pets?limit=1",
  "/v1/pets?limit=0",
  "/v1/pets/1",
  "/v1/pets/9",
  "/v1/x",
])("HEAD %s is GET without the body", async (path) => {
  const { call, create, clock, dial, key } = await serve();
  await create('{"name":"Ærø","categoryId":1}');
  await create('{"name":"b","categoryId":1}');
  const got = await call({ path });
  clock.advance(60_000);
  const wire = await dial();
  wire.send(
    `HEAD ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  const head = await wire.response("HEAD");
  expect(await wire.rest()).toBe("");
  expect(head.status).toBe(got.status);
  const changing = {
    connection: "",
    "keep-alive": "",
    date: "",
    "x-ratelimit-remaining": "",
    "x-ratelimit-reset": "",
    "x-request-id": "",
  };
  expect({ ...head.headers, ...changing }).toEqual({ ...got.headers, ...changing });
});
