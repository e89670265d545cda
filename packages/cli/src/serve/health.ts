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
    else if (path === "/healthz") respond(response, 200, "ok");
    else if (isClosing()) respond(response, 503, "shutting down");
    else
      void isReady().then((ready) =>
        respond(response, ready ? 200 : 503, ready ? "ready" : "storage unavailable"),
      );
  };
}

/**
 * How long a failed create counts, in milliseconds, unless another one succeeds. Without an end, a proxy that sends
 * requests only to servers that are ready would never send another create.
 */
const FAILURE_COUNTS = 10_000;

/**
 * Watches the writes of a storage: a full disk may still be read. While the last charge has failed, a look at the
 * readiness writes the usage of a key as it is. Otherwise it takes the write lock, as each request does.
 */
export function watchWrites(storage: Storage, clock: Clock) {
  let createFailedAt = -Infinity;
  let areChargesFailing = false;
  let looking: Promise<boolean> | undefined;
  const watchCreate = <T extends { isErr(): boolean }>(creating: Promise<T>): Promise<T> => {
    void creating.then((created) => (createFailedAt = created.isErr() ? clock.now() : -Infinity));
    return creating;
  };
  const watchCharge = <T extends { isErr(): boolean }>(charging: Promise<T>): Promise<T> => {
    void charging.then((charged) => (areChargesFailing = charged.isErr()));
    return charging;
  };
  const { pets, keys, usage } = storage;

  const write = async (): Promise<boolean> => {
    const found = await keys.list({ limit: 1, after: undefined, banned: false });
    const id = found.isOk() ? found.value[0]?.key.id : undefined;
    if (id === undefined) return found.isOk();
    const again = (used: Usage | undefined) => ({ next: used && { ...used }, result: undefined });
    return (await watchCharge(usage.update(id, again))).isOk();
  };
  const lock = async (): Promise<boolean> =>
    (await usage.charge(NO_DIGEST, () => ({ result: undefined }))).isOk();
  const look = async (): Promise<boolean> => {
    const listed = await pets.list({ limit: 1, after: undefined });
    if (listed.isErr() || clock.now() - createFailedAt < FAILURE_COUNTS) return false;
    return areChargesFailing ? write() : lock();
  };
  const watched: Storage = {
    ...storage,
    pets: {
      ...pets,
      create: (pet) => watchCreate(pets.create(pet)),
      createOnce: (pet, request) => watchCreate(pets.createOnce(pet, request)),
    },
    usage: { ...usage, charge: (digest, decide) => watchCharge(usage.charge(digest, decide)) },
  };
  // Looks that come meanwhile share the outcome.
  const isReady = () => (looking ??= look().finally(() => (looking = undefined)));
  return { storage: watched, isReady };
}

/** No secret has this digest. */
const NO_DIGEST = "";

function respond(response: ServerResponse, status: number, text: string): void {
  const body = JSON.stringify({ status: text });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, "Cache-Control": "no-store" }).end(body);
}
