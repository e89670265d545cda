import { describe, expect, test } from "vitest";
import type { Call } from "../support/serve.js";
import type { WireResponse } from "../support/wire.js";
import { startBench } from "./bench.js";
import { cases, type CaseName } from "./cases.js";
import type { Host } from "./host.js";

/** Runs every `stride`-th of the table of cases, and the cases of the host's own routes, on a host. */
export function describeHost(host: Host, stride = 1): void {
  describe(`${host.name}, with the store at ${host.basePath}`, () => {
    const tried = Object.entries(cases).filter((_, index) => index % stride === 0);
    for (const [name, run] of tried) {
      const reason = host.skips?.[name as CaseName];
      test(reason === undefined ? name : `${name} (not here: ${reason})`, async (context) => {
        if (reason !== undefined) context.skip(reason);
        await run(await startBench(host));
      });
    }

    test("the host's own responses are as without the store", async () => {
      const [bench, bare] = [await startBench(host), await startBench(host, { isMounted: false })];
      for (const call of [...elsewhere, ...beside(host)]) {
        expect([call, strip(await bench.call(call))]).toEqual([call, strip(await bare.call(call))]);
      }
      expect((await bench.call({ path: "/hello" })).body).toBe("hello");
      expect((await bench.call(ECHO)).body).toBe("Rex");
      expect((await bench.call({ path: "/boom" })).status).toBe(500);
      expect((await bench.call({ path: "/nowhere" })).status).toBe(404);
    });

    test("the host's own way to trust its proxy tells callers apart", async () => {
      const { call } = await startBench(host, { behindProxy: true });
      const from = (address: string): Promise<WireResponse> =>
        call({ key: null, headers: [`X-Forwarded-For: ${address}`] });
      const responses = [await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.1")];
      expect(responses.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual([
        "59",
        "59",
        "58",
      ]);
    });
  });
}

/** Unmounts a store while its host runs. The host then responds to everything as without it. */
export async function expectUnmounted(host: Host): Promise<void> {
  const [bench, bare] = [await startBench(host), await startBench(host, { isMounted: false })];
  expect((await bench.call()).status).toBe(200);
  bench.unmount?.();
  for (const call of [{}, { method: "POST", body: "{}", key: null }, ...elsewhere]) {
    expect(strip(await bench.call(call))).toEqual(strip(await bare.call(call)));
  }
}

const ECHO: Call = {
  path: "/echo",
  method: "POST",
  headers: ["Content-Type: application/json"],
  body: '{"name":"Rex"}',
};

const elsewhere: readonly Call[] = [
  ...["/", "/hello", "/hello?x=1", "/nowhere", "/boom", "/%zz", "//evil/x", "*"].map((path) => ({
    path,
  })),
  { path: "/hello", method: "HEAD" },
  { path: "/nowhere", method: "DELETE" },
  { path: "/nowhere", method: "PROPFIND" },
  ECHO,
  { ...ECHO, body: "{" },
];

/** Targets that look like the store's and are not. */
const beside = ({ basePath, resolvesDots = false }: Host): readonly Call[] =>
  [
    `${basePath}x/pets`,
    `/x${basePath}/pets`,
    `//evil${basePath}/pets`,
    ...(resolvesDots ? [] : [`/x/..${basePath}/pets`, `/%2e%2e${basePath}/pets`]),
    basePath.slice(0, -1),
  ].map((path) => ({ path }));

function strip({ status, headers, body }: WireResponse): unknown {
  return { status, headers: { ...headers, date: "", "x-request-id": "" }, body };
}
