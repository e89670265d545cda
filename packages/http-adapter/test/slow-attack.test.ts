import { expect, test } from "vitest";
import { isSoak } from "../../../scripts/test-size.js";
import { compose, issue, serve } from "./support/serve.js";

const COUNT = isSoak ? 1_000 : 100;
const hurried = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 20 };

test(`${COUNT} half-sent requests beside a good client: all are told 408 and gone, and it is served`, async () => {
  const { dial, store } = await serve({ limits: isSoak ? {} : hurried });
  const key = await issue(store, "business");
  const slow = await Promise.all(
    Array.from({ length: COUNT }, async (_, index) => {
      const wire = await dial();
      const half = compose({ method: "POST", key, headers: ["Content-Length: 100"] });
      wire.send(index % 2 === 0 ? half : half.slice(0, -2));
      return wire;
    }),
  );
  let remaining = COUNT;
  const gone = slow.map(async (wire) => {
    const { status } = await wire.response();
    await wire.rest();
    remaining -= 1;
    return status;
  });
  const good = await dial();
  while (remaining > 0) {
    good.send(compose({ key, path: "/v1/pets?limit=1" }));
    expect([200, 429]).toContain((await good.response()).status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(new Set(await Promise.all(gone))).toEqual(new Set([408]));
});
