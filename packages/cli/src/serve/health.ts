import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";

/** Answers `/healthz` and `/readyz`, outside the base path and without a key; `next` gets the rest. */
export type HealthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void;

/**
 * Tells a supervisor how the process does: `/healthz` is 200 while it runs, `/readyz` while it may get
 * requests: 503 when the storage cannot be read, or once the server is shutting down. Whether it can be
 * written, only a request tells.
 */
export function createHealthHandler(store: PetStore, isDraining: () => boolean): HealthHandler {
  return (request, response, next) => {
    const [path] = (request.url ?? "").split("?");
    if (path !== "/healthz" && path !== "/readyz") next();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (path === "/healthz") answer(response, 200, "ok");
    else void answerReadiness(store, isDraining, response);
  };
}

async function answerReadiness(
  store: PetStore,
  isDraining: () => boolean,
  response: ServerResponse,
): Promise<void> {
  const listed = await store.trusted.listPets({ limit: 1 });
  if (listed.isErr()) answer(response, 503, "storage unavailable");
  else if (isDraining()) answer(response, 503, "shutting down");
  else answer(response, 200, "ready");
}

function answer(response: ServerResponse, status: number, text: string): void {
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
