import { expect, test } from "vitest";
import { startBench } from "./bench.js";
import { describeHost } from "./describe-host.js";
import { behindParser, belowMount, createHost, plain } from "./koa-hosts.js";

describeHost(plain);
describeHost(belowMount);
describeHost(behindParser);

test("a middleware that waits for the store finds the status, and its headers go out", async () => {
  const seen: number[] = [];
  const { call } = await startBench(
    createHost("behind a middleware", "/v1", (app, middleware) => {
      app.use(async (context, next) => {
        context.set("X-Host", "kept");
        await next();
        seen.push(context.status);
      });
      app.use(middleware);
    }),
  );
  expect((await call()).headers["x-host"]).toBe("kept");
  expect((await call({ key: null })).status).toBe(401);
  expect((await call({ path: "/hello" })).headers["x-host"]).toBe("kept");
  expect(seen).toEqual([200, 401, 200]);
});
