import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import { createMemoryStorage, type PetStore } from "@petstore/core";
import { listen, makeStore, type Listening, type Made } from "../support/serve.js";
import type { Open } from "../support/wire.js";

/**
 * A host in which the store lives beside the host's own routes: `GET /hello`; `POST /echo`, which
 * responds with the JSON that it gets; `GET /boom`, which fails.
 */
export interface Host {
  readonly name: string;
  /** Where the store's clients see it. */
  readonly basePath: string;
  /** Starts the host, or the host as it is without a store. Behind a proxy, it trusts `X-Forwarded-For` in its own way. */
  readonly start: (
    store: PetStore | undefined,
    behindProxy: boolean,
  ) => Promise<Server | SecureServer> | Server | SecureServer;
  /** How a client connects, if not by TCP. */
  readonly open?: Open;
  /** Whether the host resolves dot segments before the store sees them. */
  readonly resolvesDots?: boolean;
  /** Whether a body parser of the host comes first, which rounds large numbers. */
  readonly rounds?: boolean;
}

/** Starts a host for the length of a test. It is asked for the list of pets by default. */
export async function startHost(
  { basePath, start, open }: Host,
  { isMounted = true, behindProxy = false, storage = createMemoryStorage() } = {},
): Promise<Made & Listening> {
  const made = await makeStore({ storage });
  const server = await start(isMounted ? made.store : undefined, behindProxy);
  const listening = await listen(server, made.key, open);
  return {
    ...made,
    ...listening,
    call: (call) => listening.call({ path: `${basePath}/pets`, ...call }),
  };
}
