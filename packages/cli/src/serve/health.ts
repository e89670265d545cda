import type { ServerResponse } from "node:http";
import type { Clock, PetStore, Storage } from "@petstore/core";
import type { NodeHandler } from "@petstore/http-adapter";

/**
 * Responds to `/healthz` and `/readyz`, which need no key. `/healthz` is 200 while the process runs.
 * `/readyz` is 200 while it can serve requests, and 503 when the storage cannot be read, PostgreSQL cannot be
 * written, pets could not be stored lately, or the server is closing.
 */
export function createHealthHandler(
  store: PetStore,
  areWritesFailing: () => boolean,
  isClosing: () => boolean,
): NodeHandler {
  return (request, response, next) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") next?.();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (path === "/healthz") respond(response, 200, "ok");
    else void respondWithReadiness(store, areWritesFailing, isClosing, response);
  };
}

/**
 * How long a failed write counts if no other write succeeds, in milliseconds. Without an end, a proxy that sends
 * requests only to servers that are ready would never send another write.
 */
const FAILURE_COUNTS = 10_000;

/** Watches whether pets can be stored. On a full disk, a storage may still be read. */
export function watchWrites(
  storage: Storage,
  clock: Clock,
): { readonly storage: Storage; readonly areFailing: () => boolean } {
  let failedAt = -Infinity;
  const watch = async <T extends { isErr(): boolean }>(writing: Promise<T>): Promise<T> => {
    const written = await writing;
    failedAt = written.isErr() ? clock.now() : -Infinity;
    return written;
  };
  const { pets } = storage;
  return {
    storage: {
      ...storage,
      pets: {
        ...pets,
        create: (pet) => watch(pets.create(pet)),
        createOnce: (pet, request) => watch(pets.createOnce(pet, request)),
      },
    },
    areFailing: () => clock.now() - failedAt < FAILURE_COUNTS,
  };
}

async function respondWithReadiness(
  store: PetStore,
  areWritesFailing: () => boolean,
  isClosing: () => boolean,
  response: ServerResponse,
): Promise<void> {
  if (isClosing()) {
    respond(response, 503, "shutting down");
    return;
  }
  const listed = await store.trusted.listPets({ limit: 1 });
  if (listed.isErr() || areWritesFailing()) respond(response, 503, "storage unavailable");
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
