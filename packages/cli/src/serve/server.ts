import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { PetStore } from "@petstore/core";
import { codeOf } from "@petstore/core/facts";
import { clientAddressBehind, createPetStoreServer } from "@petstore/http-adapter";
import type { PetStoreServerOptions } from "@petstore/http-adapter";
import { originForm } from "@petstore/http-adapter/internal";
import { err, ok, type Result } from "neverthrow";
import { createDocsHandler } from "./docs/docs-handler.js";
import { createHealthHandler } from "./health.js";
import type { ServeOptions } from "./serve-options.js";

/** How long running requests may take after the server was told to stop. */
export const DRAIN_SECONDS = 10;

/**
 * Serves the store under `/v1`, with the docs page and the health checks. `close` says at `/readyz` that the server is
 * closing, waits for the delay, lets running requests finish, for at most `DRAIN_SECONDS`, and closes the server.
 */
export async function listen(
  store: PetStore,
  options: ServeOptions,
  isReady: () => Promise<boolean>,
  hooks: Pick<PetStoreServerOptions, "onResponse" | "onError">,
) {
  const { host, port, keepAlive, shutdownDelay, cors, trustProxy, rateLimitFields } = options;
  let isClosing = false;
  const health = createHealthHandler(isReady, () => isClosing);
  const docs = createDocsHandler();
  const server = createPetStoreServer(store, {
    fallback: (request, response, next) => {
      request.url = originForm(request.url ?? "");
      health(request, response, () => docs(request, response, next));
    },
    clientAddress: trustProxy && clientAddressBehind(trustProxy),
    limits: { keepAliveTimeoutSeconds: keepAlive },
    ...hooks,
    cors: cors && { origins: cors },
    rateLimitFields: rateLimitFields ? "draft-11" : undefined,
  });
  const close = async () => {
    isClosing = true;
    await setTimeout(shutdownDelay * 1_000);
    await server.drain({ timeoutSeconds: DRAIN_SECONDS });
  };
  return (await listenOn(server, host, port)).map((url) => ({ url: `${url}/v1`, close }));
}

/** Resolves to the server's URL for a client on this machine; `Err` says why it cannot. */
export async function listenOn(
  server: Server,
  host: string,
  port: number,
): Promise<Result<string, string>> {
  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve).listen(port, host, () => resolve(undefined));
  });
  if (problem !== undefined) {
    const reason = codeOf(problem) === "EADDRINUSE" ? "the port is in use" : problem.message;
    return err(`cannot listen on ${host} port ${port}: ${reason}`);
  }
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  // A URL cannot have the zone of an address.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.replace(/%.*$/, "");
  return ok(`http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${bound}`);
}

/** A connection beyond the limit closes the one that has waited longest for a whole request; if none waits, itself. */
export function limitConnections(server: Server, most: number): void {
  // Those that have waited longest come first.
  const open = new Map<Socket, Set<ServerResponse>>();
  server.on("connection", (socket: Socket) => {
    if (open.size >= most) {
      const idle = [...open].find(([, responses]) => ![...responses].some(isRunning));
      const ended = idle?.[0] ?? socket;
      open.delete(ended);
      ended.destroy();
    }
    open.set(socket, new Set());
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    const responses = open.get(socket);
    responses?.add(response);
    response.once("close", () => {
      responses?.delete(response);
      if (responses !== undefined && open.delete(socket)) open.set(socket, responses);
    });
  });
}

function isRunning({ req, writableEnded }: ServerResponse): boolean {
  return req.complete && !writableEnded;
}
