import type { Server } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { PetStore } from "@petstore/core";
import {
  createPetStoreServer,
  type PetStoreServerOptions,
  type ResponseReport,
} from "@petstore/http-adapter";
import { originForm } from "@petstore/http-adapter/internal";
import { err, ok, type Result } from "neverthrow";
import { createDocsHandler } from "./docs/docs-handler.js";
import { createHealthHandler } from "./health.js";

/** Where to listen, and the functions to notify. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** How long a connection may be idle between requests, in seconds; `undefined` for the default. */
  readonly keepAlive: number | undefined;
  /** How long connections are still accepted after the server was told to stop, in seconds. */
  readonly shutdownDelay: number;
  /** The origins whose pages may call the store, or `"*"` for all; `undefined`: none. */
  readonly corsOrigins: "*" | readonly string[] | undefined;
  /** Returns the address of the client; `undefined` for the address of the socket. */
  readonly findClientAddress: PetStoreServerOptions["clientAddress"];
  /** Whether responses have the `RateLimit` fields of the draft, with both windows. */
  readonly hasRateLimitFields: boolean;
  /** Called with a report of each response. */
  readonly onResponse: ((report: ResponseReport) => void) | undefined;
  /** Called with the cause of each failure, which clients do not see. */
  readonly onError: (cause: unknown) => void;
  /** Whether the storage can serve a request with a key now. */
  readonly isReady: () => Promise<boolean>;
}

/** How long running requests may take after the server was told to stop. */
export const DRAIN_SECONDS = 10;

/** A server that accepts connections. */
export interface Listening {
  /** The base URL for a client on this machine. */
  readonly url: string;
  /**
   * Says at `/readyz` that the server is closing, waits for the delay, lets running requests finish, for at most
   * `DRAIN_SECONDS`, and closes the server.
   */
  readonly close: () => Promise<void>;
}

/** Serves the store under `/v1`, with the docs page and the health checks. `Err` says why it cannot. */
export async function listen(
  store: PetStore,
  options: ListenOptions,
): Promise<Result<Listening, string>> {
  const { host, port, keepAlive, shutdownDelay, hasRateLimitFields } = options;
  const { corsOrigins, findClientAddress, onResponse, onError, isReady } = options;
  let isClosing = false;
  const health = createHealthHandler(isReady, () => isClosing);
  const docs = createDocsHandler();
  const fallback: PetStoreServerOptions["fallback"] = (request, response, next) => {
    request.url = originForm(request.url ?? "");
    health(request, response, () => docs(request, response, next));
  };
  const limits = { keepAliveTimeoutSeconds: keepAlive };
  const server = createPetStoreServer(store, {
    fallback,
    clientAddress: findClientAddress,
    limits,
    onError,
    onResponse,
    cors: corsOrigins && { origins: corsOrigins },
    rateLimitFields: hasRateLimitFields ? "draft-11" : undefined,
  });

  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => resolve(undefined));
  });
  if (problem !== undefined) return err(describeProblem(problem, host, port));
  return ok({
    url: `${urlOf(server, host)}/v1`,
    close: async () => {
      isClosing = true;
      await setTimeout(shutdownDelay * 1_000);
      await server.drain({ timeoutSeconds: DRAIN_SECONDS });
    },
  });
}

/** Says why a server cannot listen. */
export function describeProblem(problem: Error, host: string, port: number): string {
  const reason =
    "code" in problem && problem.code === "EADDRINUSE" ? "the port is in use" : problem.message;
  return `cannot listen on ${host} port ${String(port)}: ${reason}`;
}

/** Returns the URL of a server for a client on this machine. */
export function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  // A URL cannot have the zone of an address.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.replace(/%.*$/, "");
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${String(port)}`;
}
