import { EventEmitter, once } from "node:events";
import { createNodeHandler, petStorePlugin, type NodeHandler } from "@petstore/http-adapter";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { createMocks, type RequestMethod } from "node-mocks-http";
import serverless from "serverless-http";
import { describe, expect, onTestFinished, test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import type { ConformanceCase } from "../support/conformance/case.js";
import { conformanceCases } from "../support/conformance/cases.js";
import { contentCases } from "../support/conformance/content.js";
import { expectResponse, runCase } from "../support/conformance/run-case.js";
import { cutsAtEvery, postCutPets } from "../support/cut-body.js";
import { compose, issue, makeStore, PET, petOf, slowToAdmit, type Call } from "../support/serve.js";
import type { WireResponse } from "../support/wire.js";
import { hostOfContent, hosts, onFastify, startHost, transparentHosts } from "./hosts.js";
import type { Host } from "./hosts.js";

const UNLIMITED = { perMinute: 1e6, perDay: 1e6 };

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
    ] as const)
      expectResponse(await call(sent), { status, code });
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
    ] as const)
      expect((await wire.exchange(bytes)).status).toBe(status);
    wire.send(compose({ key, path, method: "POST", body: PET }) + PET.slice(0, 5));
    wire.socket.destroy();
    await once(wire.socket, "close");
    expect(await call()).toMatchObject({ status: 200, body: "[]" });
  });

  test("X-Forwarded-For is read only if the host trusts its proxy, in its own way", async () => {
    for (const behindProxy of [false, true]) {
      const remaining = behindProxy ? ["59", "59", "58"] : ["59", "58", "57"];
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

/** Every which row is tried: each of them in CI. By default, `test/conformance` tries all of them on one server. */
const STRIDE = sized(5, 1, 1);
const reachingTheStore = conformanceCases.filter(({ ownServerOnly }) => ownServerOnly !== true);
/** What Fastify refuses by itself: a method that it does not know, a target that it cannot decode. */
const FASTIFY = /^PROPFIND |^ICE|^the pet %zz$/;

test.each<[Host, rows: readonly ConformanceCase[]]>([
  ...transparentHosts.map((host): [Host, readonly ConformanceCase[]] => [host, reachingTheStore]),
  [hostOfContent, contentCases],
])("$name conforms in all that reaches the store", async (host, rows) => {
  const { store, port } = await startHost(host);
  const key = await issue(store, UNLIMITED);
  const isTried = ({ name }: ConformanceCase, index: number): boolean =>
    index % STRIDE === 0 && !(host.name.startsWith("Fastify") && FASTIFY.test(name));
  // At once: many wait for a connection to close.
  const outcomes = rows
    .filter(isTried)
    .map((row) => runCase(row, port, key).catch((why: unknown) => `${row.name}: ${String(why)}`));
  expect((await Promise.all(outcomes)).filter((each) => each !== undefined)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(70 / STRIDE);
});

/** Bodies are cut at every which place, in every which host: at and in each of them in CI. */
const cuts = cutsAtEvery(sized(7, 1, 1));
const TRIED = hosts.filter((_, index) => index % sized(2, 1, 1) === 0);

describe.each([0, 4])("while the store takes %i turns to admit a request", (turns) => {
  test.each(TRIED)("$name stores what is sent, wherever it is cut", async (host) => {
    const { store, dial } = await startHost(host, { storage: slowToAdmit(turns) });
    const key = await issue(store, UNLIMITED);
    const sent = await postCutPets(await dial(), { key, path: `${host.basePath}/pets` }, cuts);
    const ids = [...sent.keys(), sent.length].map((index) => BigInt(index + 1));
    const found = await Promise.all(ids.map((id) => store.trusted.getPet(id)));
    expect(found.map((pet) => pet.unwrapOr(undefined)?.pet.name)).toEqual([...sent, undefined]);
  });
});

async function startFastify(
  options: object = {},
  decorate: (app: FastifyInstance) => void = () => undefined,
) {
  const { store, key } = await makeStore();
  const app = fastify();
  onTestFinished(() => app.close());
  decorate(app);
  await app.register(petStorePlugin, { store, ...options });
  const send = (headers: object = {}, payload?: string) =>
    app.inject({
      ...{ url: "/v1/pets", headers: { authorization: `Bearer ${key}`, ...headers } },
      ...(payload !== undefined && { method: "POST", payload }),
    });
  return { app, send };
}

test("with the plugin of Fastify, app.inject() reaches the store without a socket", async () => {
  const { app, send } = await startFastify({ prefix: "/", logLevel: "silent", logSerializers: {} });
  const created = await send({}, '{"name":"Rex","categoryId":9007199254740993}');
  expect([created.statusCode, created.headers.location]).toEqual([201, "/v1/pets/1"]);
  expect((await send()).body).toContain("9007199254740993");
  expect((await app.inject({ url: "/v1/pets" })).statusCode).toBe(401);
  expect((await app.inject({ url: "/x" })).json()).toMatchObject({ error: "Not Found" });
});

test("with the plugin of Fastify, the host's hooks run on the store's responses, and the headers that they set go out", async () => {
  const seen: number[] = [];
  const { call } = await startHost(
    onFastify("", "/v1", (app) => {
      app.addHook("onRequest", async (_, reply) => void reply.header("X-Host", "kept"));
      app.addHook("onResponse", async (_, reply) => void seen.push(reply.statusCode));
    }),
  );
  const headers = { "x-host": "kept", "x-ratelimit-remaining": "59" };
  expect(await call()).toMatchObject({ headers });
  expect((await call({ key: null })).status).toBe(401);
  await expect.poll(() => seen).toEqual([200, 401]);
});

test.each(["onRequest", "preParsing", "preValidation", "preHandler"] as const)(
  "with the plugin of Fastify, a hook %s of a route runs before the store, and may refuse",
  async (name) => {
    const refuse = async ({ headers }: FastifyRequest, reply: FastifyReply) => {
      if ("x-refused" in headers) await reply.code(418).send();
    };
    const { send } = await startFastify({}, (app) =>
      app.addHook("onRoute", (route) => void (route[name] = refuse)),
    );
    expect((await send({ "x-refused": "1" }, PET)).statusCode).toBe(418);
    expect((await send({}, PET)).headers["x-ratelimit-remaining"]).toBe("59");
    // Fastify refuses this itself after `preParsing`.
    const broken = await send({ "content-type": "no type" }, PET);
    expect(broken.json()).toMatchObject({ status: 415, code: "unsupported_media_type" });
  },
);

test("the plugin of Fastify is encapsulated: its hook sees no request of the host's", async () => {
  const { app } = await startFastify();
  app.get("/v1/health", () => "well");
  app.setNotFoundHandler((_, reply) => void reply.code(404).send("The host's own 404"));
  expect((await app.inject({ url: "/v1/health" })).statusCode).toBe(200);
  for (const url of ["/nowhere", "/%76%31/pets", "/v1x"])
    expect((await app.inject({ url })).body).toBe("The host's own 404");
});

test.each([{ basePath: "v1" }, { basepath: "/v1" }, { maxBodyBytes: 0 }])(
  "the plugin of Fastify fails and names the option if it is registered with %j",
  (options) => expect(startFastify(options)).rejects.toThrow(/option \w+ /),
);

/** Makes a request of its own, without Node's parser. Resolves to the status and the body of the response. */
type Make = (
  handler: NodeHandler,
  method: RequestMethod,
  headers: Record<string, string>,
  body?: string,
) => Promise<unknown>;

const makers: Record<string, Make> = {
  "serverless-http": async (handler, method, headers, body = "") => {
    const requestContext = { http: { method, sourceIp: "203.0.113.9" } };
    const event = { version: "2.0", rawPath: "/v1/pets", headers, requestContext, body };
    const made = (await serverless(handler)(event, {})) as { statusCode: number; body: string };
    return [made.statusCode, made.body];
  },
  "node-mocks-http": async (handler, method, headers, rawBody) => {
    const sent = { method, url: "/v1/pets", headers, ...(rawBody && { rawBody }) };
    const { req, res } = createMocks(sent, { eventEmitter: EventEmitter });
    const ended = once(res, "end");
    handler(req, res);
    await ended;
    return [res.statusCode, String(res._getData())];
  },
};

test.each(Object.entries(makers))("what %s makes is read, exactly", async (_, make) => {
  const { store, key } = await makeStore();
  const failures: unknown[] = [];
  const handler = createNodeHandler(store, { onError: (error) => failures.push(error) });
  const headers = { host: "pets.example", authorization: `Bearer ${key}` };
  const body = '{"name":"Rex","categoryId":9007199254740993}';
  const pet = `{"id":1,${body.slice(1, -1)},"status":"available"}`;
  const json = { ...headers, "content-type": "application/json" };
  expect(await make(handler, "POST", json, body)).toEqual([201, pet]);
  expect(await make(handler, "GET", headers)).toEqual([200, `[${pet}]`]);
  expect(await make(handler, "GET", { host: "x" })).toContain(401);
  expect(failures).toEqual([]);
});
