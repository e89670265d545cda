import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { compose, issue, serve } from "./support/serve.js";

const isSoak = process.env["PETSTORE_SOAK"] === "1";
const COUNT = isSoak ? 1_000 : 100;
const hurried = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 20 };

test(
  `${COUNT} half-sent requests beside a good client: all are told 408 and gone, and it is served`,
  { timeout: 60_000 },
  async () => {
    const { dial, store } = await serve({ limits: isSoak ? {} : hurried });
    const key = await issue(store, "business");
    const start = performance.now();
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
      const { status } = await wire.answer();
      await wire.rest();
      remaining -= 1;
      return status;
    });
    const good = await dial();
    const latencies: number[] = [];
    while (remaining > 0) {
      const sent = performance.now();
      good.send(compose({ key, path: "/v1/pets?limit=1" }));
      expect([200, 429]).toContain((await good.answer()).status);
      latencies.push(performance.now() - sent);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(new Set(await Promise.all(gone))).toEqual(new Set([408]));
    if (!isSoak) return;
    latencies.sort((a, b) => a - b);
    expect(latencies[Math.floor(latencies.length * 0.99)]).toBeLessThan(100);
    expect(performance.now() - start).toBeLessThan(15_000);
  },
);
