import type { ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import type { NodeHandler } from "@petstore/http-adapter";

/**
 * Responds to `/healthz` and `/readyz`, which need no key. `/healthz` is 200 while the process runs.
 * `/readyz` is 200 while it can serve requests, and 503 when the storage cannot be read, a PostgreSQL
 * database cannot be written, or the server is closing.
 */
export function createHealthHandler(store: PetStore, isClosing: () => boolean): NodeHandler {
  return (request, response, next) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") next?.();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (path === "/healthz") respond(response, 200, "ok");
    else void respondWithReadiness(store, isClosing, response);
  };
}

async function respondWithReadiness(
  store: PetStore,
  isClosing: () => boolean,
  response: ServerResponse,
): Promise<void> {
  const listed = await store.trusted.listPets({ limit: 1 });
  if (listed.isErr()) respond(response, 503, "storage unavailable");
  else if (isClosing()) respond(response, 503, "shutting down");
  else respond(response, 200, "ready");
}

function respond(response: ServerResponse, status: number, text: string): void {
  const body = JSON.stringify({ status: text });
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
  });
  response.end(body);
}

function refuseMethod(response: ServerResponse): void {
  response.writeHead(405, { Allow: "GET, HEAD", "Content-Length": 0 });
  response.end();
}
