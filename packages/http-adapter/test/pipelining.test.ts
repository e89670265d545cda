import { expect, test } from "vitest";
import { compose, serve } from "./support/serve.js";

const pet = '{"name":"Rex","categoryId":1}';

test("requests sent at once are answered in their order, bodies and all", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  const post = `${compose({ method: "POST", key, body: pet })}${pet}`;
  wire.send(
    post + compose({ key }) + post + compose({ key, path: "/v1/pets/2" }) + compose({ key: null }),
  );
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await wire.answer()).status);
  expect(statuses).toEqual([201, 200, 201, 200, 401]);
});

test("each of them costs one", async () => {
  const { dial, key, call } = await serve();
  const wire = await dial();
  wire.send(compose({ key }).repeat(10));
  for (let count = 0; count < 10; count += 1) await wire.answer();
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("49");
});
