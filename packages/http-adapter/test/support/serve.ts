import { once } from "node:events";
import type { Server } from "node:http";
import { createManualClock, createPetStore, type ManualClock, type PetStore } from "@petstore/core";
import type { PetStoreOptions } from "@petstore/core";
import { onTestFinished } from "vitest";
import { createPetStoreServer, type PetStoreServerOptions } from "@petstore/http-adapter";
import { dial, type WireResponse, type Wire } from "./wire.js";

/** A request of a test. */
export interface Call {
  readonly method?: string;
  /** The request target, raw. */
  readonly path?: string;
  /** Whole header lines; Host and Authorization are added. */
  readonly headers?: readonly string[];
  /** Sent with its Content-Length. */
  readonly body?: string | Uint8Array;
  /** The bearer token, the store's own key when left out; `null` for no Authorization line. */
  readonly key?: string | null;
}

/** A store with one Free key, reachable on a real socket. */
export interface Served {
  readonly store: PetStore;
  readonly clock: ManualClock;
  /** The secret of a Free key. */
  readonly key: string;
  readonly server: Server;
  readonly port: number;
  /** Sends one request on a connection of its own. */
  readonly call: (call?: Call) => Promise<WireResponse>;
  /** Posts this body to /v1/pets. */
  readonly create: (json: string) => Promise<WireResponse>;
  readonly dial: () => Promise<Wire>;
}

/** Starts a server of ours for the length of a test. */
export async function serve(
  options: PetStoreServerOptions & { readonly store?: PetStoreOptions } = {},
): Promise<Served> {
  const { store: storeOptions, ...serverOptions } = options;
  const made = await makeStore(storeOptions);
  const server = createPetStoreServer(made.store, serverOptions);
  return { ...made, ...(await listen(server, made.key)) };
}

/** A memory store on a hand-moved clock, with one Free key. */
export async function makeStore(
  options: PetStoreOptions = {},
): Promise<Pick<Served, "store" | "clock" | "key">> {
  const clock = createManualClock();
  const store = createPetStore({ clock, ...options });
  const key = await issue(store, "free");
  return { store, clock, key };
}

/** Issues a key and gives its secret. */
export async function issue(store: PetStore, plan: string): Promise<string> {
  const issued = await store.keys.issue({ plan });
  return issued._unsafeUnwrap().secret;
}

/** Starts a server for the length of a test. */
export async function listen(
  server: Server,
  key: string,
): Promise<Pick<Served, "server" | "port" | "call" | "create" | "dial">> {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const call = (what: Call = {}): Promise<WireResponse> => exchange(port, { key, ...what });
  return {
    server,
    port,
    call,
    create: (json) => call({ method: "POST", body: json }),
    dial: () => dial(port),
  };
}

async function exchange(port: number, call: Call): Promise<WireResponse> {
  const wire = await dial(port);
  wire.send(compose(call));
  if (call.body !== undefined) wire.send(call.body);
  const response = await wire.response(call.method);
  wire.socket.destroy();
  return response;
}

/** The head of a request as text. */
export function compose({
  method = "GET",
  path = "/v1/pets",
  headers = [],
  body,
  key,
}: Call): string {
  return [
    `${method} ${path} HTTP/1.1`,
    "Host: pets.test",
    ...(typeof key === "string" ? [`Authorization: Bearer ${key}`] : []),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
    "\r\n",
  ].join("\r\n");
}
