import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { expectResponse } from "../support/conformance/run-case.js";
import { PET, petOf } from "../support/pet.js";
import { compose, type Call } from "../support/serve.js";
import type { WireResponse } from "../support/wire.js";
import { startHost, type Host } from "./host.js";
import { hosts } from "./hosts.js";

const post = (body: string, type = "application/json"): Call => ({
  method: "POST",
  body,
  headers: [`Content-Type: ${type}`],
});

describe.each(hosts)("$name, with the store at $basePath", (host) => {
  const { basePath, rounds = false } = host;

  test("a pet is added, found at its Location, and listed; HEAD has the headers of GET", async () => {
    const { call } = await startHost(host);
    const categoryId = rounds ? "7" : "9223372036854775807";
    const pet = `{"id":1,"name":"Æ","categoryId":${categoryId},"status":"available"}`;
    const added = await call(post(`{"name":"Æ","categoryId":${categoryId}}`));
    const location = `${basePath}/pets/1`;
    expectResponse(added, { status: 201, body: pet, headers: { location } });
    const link = '<../pets>; rel="successor-version"';
    expectResponse(await call({ path: location }), { status: 200, body: pet, headers: { link } });
    const length = String(Buffer.byteLength(pet) + 2);
    const headers = { "content-length": length, "x-ratelimit-remaining": "57" };
    expectResponse(await call(), { status: 200, body: `[${pet}]`, headers });
    const headed = { ...headers, "x-ratelimit-remaining": "56" };
    expectResponse(await call({ method: "HEAD" }), { status: 200, body: "", headers: headed });
  });

  test("errors are the store's own", async () => {
    const { call } = await startHost(host);
    for (const [status, code, sent] of [
      [400, "invalid_query", { path: `${basePath}/pets?limit=0` }],
      [400, "invalid_pet", post("{}")],
      [401, "missing_api_key", { key: null, path: `${basePath}/nowhere`, method: "DELETE" }],
      [404, "not_found", { path: basePath }],
      [404, "not_found", { path: `${basePath}/PETS` }],
      [404, "not_found", { path: `${basePath}/pets/1/x` }],
      [404, "pet_not_found", { path: `${basePath}/pets/01` }],
      [405, "method_not_allowed", { method: "PUT" }],
      [413, "payload_too_large", post(petOf(65_537))],
      [415, "unsupported_media_type", post(PET, "text/plain")],
    ] as const) {
      expectResponse(await call(sent), { status, code });
    }
  });

  test("a connection carries many requests, and an aborted upload adds no pet", async () => {
    const { dial, key, call } = await startHost(host);
    const wire = await dial();
    const path = `${basePath}/pets`;
    for (const [status, bytes] of [
      [401, compose({ path, method: "POST", body: PET }) + PET],
      [405, compose({ path, key, method: "DELETE", body: PET }) + PET],
      [200, compose({ path: "/hello" })],
      [200, compose({ path, key })],
    ] as const) {
      wire.send(bytes);
      expect((await wire.response()).status).toBe(status);
    }
    wire.send(compose({ key, path, method: "POST", headers: ["Content-Length: 100"] }));
    wire.send('{"nam');
    wire.socket.destroy();
    await once(wire.socket, "close");
    expect(await call()).toMatchObject({ status: 200, body: "[]" });
  });

  test("X-Forwarded-For is read only if the host trusts its proxy, in its own way", async () => {
    for (const [behindProxy, remaining] of [
      [false, ["59", "58", "57"]],
      [true, ["59", "59", "58"]],
    ] as const) {
      const { call } = await startHost(host, { behindProxy });
      const from = async (address: string): Promise<string | undefined> => {
        const { headers } = await call({ key: null, headers: [`X-Forwarded-For: ${address}`] });
        return headers["x-ratelimit-remaining"];
      };
      const found = [await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.1")];
      expect(found).toEqual(remaining);
    }
  });

  test("the host's own responses are as without the store", async () => {
    const [mounted, bare] = [await startHost(host), await startHost(host, { isMounted: false })];
    for (const call of [...elsewhere, ...beside(host)]) {
      const [found, expected] = [await mounted.call(call), await bare.call(call)];
      expect([call, strip(found)]).toEqual([call, strip(expected)]);
    }
    expect((await mounted.call({ path: "/hello" })).body).toBe("hello");
    expect((await mounted.call(ECHO)).body).toBe('{"name":"Rex"}');
    expect((await mounted.call({ path: "/boom" })).status).toBe(500);
  });
});

const ECHO: Call = { path: "/echo", ...post('{"name":"Rex"}') };

const elsewhere: readonly Call[] = [
  ...["/", "/hello?x=1", "/boom", "/%zz", "//evil/x", "*"].map((path) => ({ path })),
  { path: "/hello", method: "HEAD" },
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
