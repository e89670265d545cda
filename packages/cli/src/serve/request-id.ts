import type { IncomingMessage } from "node:http";
import { systemRandom } from "@petstore/core";

/** The header that carries it. */
export const REQUEST_ID = "X-Request-Id";

/** Tells the X-Request-Id of a request. */
export type RequestIds = (request: IncomingMessage) => string;

/** What may be repeated in an answer and a log line without harm. An API key may not. */
const HARMLESS = /^(?!.*pet_live_)[\w.:=+/-]{1,128}$/;

const RANDOM_BYTES = 12;
/** In base64url. */
const LENGTH = 16;

/** How many fresh ids are drawn at once: one by one, they would cost ten times as much. */
const DRAWN = 256;

/** The id that the client sent if it is harmless, a fresh one otherwise: another one at every call. */
export function createRequestIds(): RequestIds {
  const fresh = createFreshIds();
  return ({ headers }) => {
    const sent = headers["x-request-id"];
    return typeof sent === "string" && HARMLESS.test(sent) ? sent : fresh();
  };
}

/** The same id at every call for the same request: for an answer and its line in the log. */
export function remembered(idOf: RequestIds): RequestIds {
  const known = new WeakMap<IncomingMessage, string>();
  return (request) => {
    const id = known.get(request) ?? idOf(request);
    known.set(request, id);
    return id;
  };
}

function createFreshIds(): () => string {
  let drawn = "";
  let at = 0;
  return () => {
    if (at === drawn.length) {
      drawn = Buffer.from(systemRandom(DRAWN * RANDOM_BYTES)).toString("base64url");
      at = 0;
    }
    at += LENGTH;
    return drawn.slice(at - LENGTH, at);
  };
}
