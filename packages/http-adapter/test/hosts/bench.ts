import { createMemoryStorage, type Storage } from "@petstore/core";
import { compose, listen, makeStore, type Call, type Made } from "../support/serve.js";
import { dial, type WireResponse, type Wire } from "../support/wire.js";
import { fetchResponse } from "./fetch-response.js";
import type { Host, Started } from "./host.js";

/** A host under test, with a store in it that has one Free key. */
export interface Bench extends Started, Made {
  readonly basePath: string;
  /** 0 where there is no server. */
  readonly port: number;
  /** Sends one request, to the list of pets unless it says otherwise. */
  readonly call: (call?: Call) => Promise<WireResponse>;
  readonly create: (json: string, headers?: readonly string[]) => Promise<WireResponse>;
  readonly dial: () => Promise<Wire>;
}

/** How a host is set up for a test. */
export interface BenchOptions {
  readonly isMounted?: boolean;
  readonly behindProxy?: boolean;
  /** Where the store keeps its data: in memory, when left out. */
  readonly storage?: Storage;
}

/** Starts a host for the length of a test. */
export async function startBench(
  { basePath, start }: Host,
  { isMounted = true, behindProxy = false, storage = createMemoryStorage() }: BenchOptions = {},
): Promise<Bench> {
  const made = await makeStore({ storage });
  const started = await start({ store: isMounted ? made.store : undefined, behindProxy });
  const port = started.server ? (await listen(started.server, made.key)).port : 0;
  const dialHost = (): Promise<Wire> => dial(port, "127.0.0.1", started.open);
  const call = async (what: Call = {}): Promise<WireResponse> => {
    const complete = { key: made.key, path: `${basePath}/pets`, ...what };
    if (started.fetch !== undefined) return fetchResponse(started.fetch, complete);
    const wire = await dialHost();
    wire.send(compose(complete));
    if (what.body !== undefined) wire.send(what.body);
    const response = await wire.response(what.method);
    wire.socket.destroy();
    return response;
  };
  return {
    ...made,
    ...started,
    basePath,
    port,
    call,
    create: (json, headers = ["Content-Type: application/json"]) =>
      call({ method: "POST", body: json, headers }),
    dial: dialHost,
  };
}
