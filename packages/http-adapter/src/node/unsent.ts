import type { ServerResponse } from "node:http";

/** The bodies that a server has passed to Node, and that the system has not taken yet, because clients read slowly. */
export interface Unsent {
  /** To be called when the whole response is passed to Node. */
  add(response: ServerResponse, bytes: number): void;
}

/** The most bytes that wait for slow clients. Then those that have waited longest are disconnected. */
export const MOST_UNSENT = 67_108_864;

/** Counts the unsent bodies of a server. Responses that share the bytes of a page count each. */
export function createUnsent(): Unsent {
  const waiting = new Map<ServerResponse, number>();
  let total = 0;

  const remove = (response: ServerResponse): void => {
    total -= waiting.get(response) ?? 0;
    waiting.delete(response);
  };
  return {
    add: (response, bytes) => {
      // Most bodies are with the system at once.
      if (response.writableLength === 0) return;
      waiting.set(response, bytes);
      total += bytes;
      response.once("close", () => remove(response));
      for (const slowest of waiting.keys()) {
        if (total <= MOST_UNSENT) return;
        remove(slowest);
        slowest.destroy();
      }
    },
  };
}
