import type { ServerResponse } from "node:http";
import type { Clock } from "@petstore/core";
import type { Storage, Usage } from "@petstore/core/storage";
import type { NodeHandler } from "@petstore/http-adapter";

/** `/readyz` is 503 when the storage cannot be read or written, or the server is closing. */
export function createHealthHandler(
  isReady: () => Promise<boolean>,
  isClosing: () => boolean,
): NodeHandler {
  return (request, response, next) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") next?.();
    else if (request.method !== "GET" && request.method !== "HEAD")
      response.writeHead(405, { Allow: "GET, HEAD", "Content-Length": 0 }).end();
    else if (path === "/healthz") respond(response, "ok");
    else if (isClosing()) respond(response, "shutting down", 503);
    else
      void isReady().then((ready) =>
        ready ? respond(response, "ready") : respond(response, "storage unavailable", 503),
      );
  };
}

function respond(response: ServerResponse, text: string, status = 200): void {
  const body = JSON.stringify({ status: text });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, "Cache-Control": "no-store" }).end(body);
}

/** How long a failed create counts, in milliseconds. Without an end, a proxy would never send another one. */
const FAILURE_COUNTS = 10_000;

/**
 * Watches the writes of a storage: a full disk may still be read. While the last charge has failed, a look at the
 * readiness changes the usage of a key. Otherwise it takes the write lock, as each request does.
 */
export function watchWrites(storage: Storage, clock: Clock) {
  const { pets, keys, usage } = storage;
  let looking: Promise<boolean> | undefined;
  /** When the last one has failed; -Infinity if it has succeeded. */
  const failedAt = { create: -Infinity, charge: -Infinity };
  const watch = <T extends { isErr(): boolean }>(kind: keyof typeof failedAt, call: Promise<T>) => {
    void call.then((outcome) => (failedAt[kind] = outcome.isErr() ? clock.now() : -Infinity));
    return call;
  };

  const write = async (): Promise<boolean> => {
    const found = await keys.list({ limit: 1, after: undefined, banned: false });
    const id = found.isOk() ? found.value[0]?.key.id : undefined;
    if (id === undefined) return found.isOk();
    // SQLite does not write a row that stays the same. A ban lasts a millisecond longer; without one, this says nothing.
    const change = (used: Usage | undefined) => ({
      next: used && { ...used, bannedAt: used.bannedAt + 1 },
      result: undefined,
    });
    return (await watch("charge", usage.update(id, change))).isOk();
  };
  const look = async (): Promise<boolean> => {
    const listed = await pets.list({ limit: 1, after: undefined });
    if (listed.isErr() || Math.abs(clock.now() - failedAt.create) < FAILURE_COUNTS) return false;
    if (failedAt.charge !== -Infinity) return write();
    // No secret has this digest.
    return (await usage.charge("", () => ({ result: undefined }))).isOk();
  };
  const watched: Storage = {
    ...storage,
    pets: {
      ...pets,
      create: (pet) => watch("create", pets.create(pet)),
      createOnce: (pet, request) => watch("create", pets.createOnce(pet, request)),
    },
    usage: { ...usage, charge: (digest, decide) => watch("charge", usage.charge(digest, decide)) },
  };
  // Looks that come meanwhile share the outcome.
  const isReady = () => (looking ??= look().finally(() => (looking = undefined)));
  return { storage: watched, isReady };
}
