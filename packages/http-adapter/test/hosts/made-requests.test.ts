import { EventEmitter, once } from "node:events";
import { createPetStore, type PetStore } from "@petstore/core";
import { createMocks, type RequestMethod } from "node-mocks-http";
import serverless from "serverless-http";
import { expect, test } from "vitest";
import { createNodeHandler, type NodeHandler } from "../../src/index.js";

interface Sent {
  readonly method: RequestMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What makes a request of its own, without Node's parser, and returns the status and the body of the response. */
type Host = (handler: NodeHandler, sent: Sent) => Promise<unknown>;

const host: Record<string, Host> = {
  "serverless-http": async (handler, { method, headers, body = "" }) => {
    const requestContext = { http: { method, sourceIp: "203.0.113.9" } };
    const event = { version: "2.0", rawPath: "/v1/pets", headers, requestContext, body };
    const response: unknown = await serverless(handler)(event, {});
    if (!(response instanceof Object && "statusCode" in response && "body" in response)) return;
    return [response.statusCode, response.body];
  },
  "node-mocks-http": async (handler, { method, headers, body }) => {
    const { req, res } = createMocks(
      { method, url: "/v1/pets", headers, ...(body ? { rawBody: body } : {}) },
      { eventEmitter: EventEmitter },
    );
    const ended = once(res, "end");
    handler(req, res);
    await ended;
    return [res.statusCode, String(res._getData())];
  },
};

const issue = async (store: PetStore) =>
  (await store.keys.issue({ plan: "free" }))._unsafeUnwrap().secret;

test.each(Object.entries(host))("what %s makes is read, exactly", async (_, send) => {
  const store = createPetStore();
  const failures: unknown[] = [];
  const handler = createNodeHandler(store, { onError: (error) => failures.push(error) });
  const headers = { host: "pets.example", authorization: `Bearer ${await issue(store)}` };
  const type = { "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":9007199254740993}';
  const pet = '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}';
  expect(await send(handler, { method: "POST", headers: { ...headers, ...type }, body })).toEqual([
    ...[201, pet],
  ]);
  expect(await send(handler, { method: "GET", headers })).toEqual([200, `[${pet}]`]);
  expect(await send(handler, { method: "GET", headers: { host: "x" } })).toContain(401);
  expect(failures).toEqual([]);
});
