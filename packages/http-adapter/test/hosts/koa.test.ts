import { expect, test } from "vitest";
import { startBench } from "./bench.js";
import { describeHost } from "./describe-host.js";
import { createHost } from "./koa-hosts.js";

describeHost(createHost("app.use"));

test("a middleware that waits for the store finds the status, and its headers go out", async () => {
  const seen: number[] = [];
  const { call } = await startBench(
    createHost("behind a middleware", async (context, next) => {
      context.set("X-Host", "kept");
      await next();
      seen.push(context.status);
    }),
  );
  expect((await call()).headers["x-host"]).toBe("kept");
  expect((await call({ key: null })).status).toBe(401);
  expect((await call({ path: "/hello" })).headers["x-host"]).toBe("kept");
  await expect.poll(() => seen).toEqual([200, 401, 200]);
});
