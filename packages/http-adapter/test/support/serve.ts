import { createServer, type RequestListener, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import { setImmediate } from "node:timers/promises";
import { createManualClock, createMemoryStorage, createPetStore } from "@petstore/core";
import type { PetStore, PetStoreOptions, RateLimits } from "@petstore/core";
import { storageError, type Storage, type UsageStorage } from "@petstore/core/storage";
import { err } from "neverthrow";
import { expect, onTestFinished } from "vitest";
import { createNodeHandler, createPetStoreServer, mount } from "@petstore/http-adapter";
import type { NodeOptions, PetStoreServerOptions } from "@petstore/http-adapter";
import { portOf } from "../../../../scripts/ports.js";
import { dial, type Open, type WireResponse } from "./wire.js";

export const PET = '{"name":"Rex","categoryId":1}';

export const petOf = (bytes: number): string =>
  PET.replace("Rex", "x".repeat(bytes - PET.length + "Rex".length));

/** A name that takes as much as a body may have, and cannot be kept in one byte for each character. */
export const LARGE = `${"x".repeat(65_400)}Ж`;

export interface Call {
  readonly method?: string;
  readonly path?: string;
  /** Whole header lines; Host and Authorization are added. */
  readonly headers?: readonly string[];
  /** Sent with its Content-Length. */
  readonly body?: string | Uint8Array;
  /** The bearer token, the store's own key when left out; `null` for no Authorization line. */
  readonly key?: string | null;
}

/** A store on a hand-moved clock, and the secret of a Free key. */
export type Made = Awaited<ReturnType<typeof makeStore>>;
export type AnyServer = Server | SecureServer;
export type Listening = Awaited<ReturnType<typeof listen>>;

export function serve({
  store,
  ...options
}: PetStoreServerOptions & { readonly store?: PetStoreOptions } = {}) {
  return start((of, onError) => createPetStoreServer(of, { onError, ...options }), store);
}

/** Starts a host for the length of a test that calls the handler of a store in its listener. */
export function serveHandler(
  host: (handle: RequestListener, key: string) => (...of: Parameters<RequestListener>) => unknown,
  options?: NodeOptions,
) {
  return start((store, onError, key) =>
    createServer(host(createNodeHandler(store, { onError, ...options }), key)),
  );
}

/** Starts the server that `create` makes of a store, for a test. `causes` is what `onError` has received. */
export async function start<Kind extends Server>(
  create: (store: PetStore, onError: (cause: unknown) => void, key: string) => Promise<Kind> | Kind,
  options?: PetStoreOptions,
) {
  const causes: unknown[] = [];
  const made = await makeStore(options);
  const server = await create(made.store, (cause) => causes.push(cause), made.key);
  return { ...made, server, causes, ...(await listen(server, made.key)) };
}

export function mountedOn<Kind extends AnyServer>(server: Kind, ...of: [PetStore, NodeOptions?]) {
  mount(server, ...of);
  return server;
}

export async function makeStore(options: PetStoreOptions = {}, startsAt?: number) {
  const clock = createManualClock(startsAt);
  const store = createPetStore({ clock, ...options });
  return { store, clock, key: await issue(store, "free") };
}

export async function issue(store: PetStore, plan: string | RateLimits): Promise<string> {
  const options = typeof plan === "string" ? { plan } : { plan: "enterprise", limits: plan };
  return (await store.keys.issue(options))._unsafeUnwrap().secret;
}

/** A storage in memory that takes this many turns of the event loop to charge a request. */
export function slowToAdmit(turns: number): Storage {
  const storage = createMemoryStorage();
  const charge: UsageStorage["charge"] = async (digest, decide) => {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    return storage.usage.charge(digest, decide);
  };
  return { ...storage, usage: { ...storage.usage, charge } };
}

export const failure = storageError("disk full", new Error("SQLITE_FULL at /secret/path"));

export function failing(part: "pets" | "usage"): Storage {
  const storage = createMemoryStorage();
  const failed = () => Promise.resolve(err(failure));
  const names = Object.keys(storage[part]);
  return { ...storage, [part]: Object.fromEntries(names.map((name) => [name, failed])) };
}

export async function listen(server: AnyServer, key: string, open?: Open) {
  const port = await portOf(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const call = async (sent: Call = {}): Promise<WireResponse> => {
    const wire = await dial(port, open, compose({ key, ...sent }));
    if (sent.body !== undefined) wire.send(sent.body);
    const response = await wire.response(sent.method);
    wire.socket.destroy();
    return response;
  };
  return {
    port,
    call,
    create: (json: string) => call({ method: "POST", body: json }),
    dial: (bytes?: string) => dial(port, open, bytes),
  };
}

export function compose({ method = "GET", path = "/v1/pets", headers = [], body, key }: Call) {
  return [
    `${method} ${path} HTTP/1.1`,
    "Host: pets.test",
    ...(typeof key === "string" ? [`Authorization: Bearer ${key}`] : []),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
    "\r\n",
  ].join("\r\n");
}

/** What a response with an Error matches, whatever its message. */
export const errorOf = (status: number, code: string) => ({
  status,
  body: expect.stringMatching(
    new RegExp(`^{"code":"${code}","message":".+","status":${status}}$`),
  ) as unknown,
});

export const HURRIED = {
  headersTimeoutSeconds: 0.05,
  requestTimeoutSeconds: 0.1,
  connectionsCheckingIntervalSeconds: 0.01,
};

export const timersOf = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
