import type { IncomingMessage, ServerResponse } from "node:http";
import { systemRandom } from "@petstore/core";

const HEADER = "X-Request-Id";

/** What may be repeated in an answer and a log line without harm. An API key may not. */
const HARMLESS = /^(?!.*pet_live_)[\w.:=+/-]{1,128}$/;

const RANDOM_BYTES = 12;

/**
 * Gives an answer its X-Request-Id: the one that the client sent if it is harmless, a fresh one
 * otherwise.
 */
export function labelAnswer(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader(HEADER, sentId(request) ?? freshId());
}

/** The X-Request-Id of an answer; empty when it has none. */
export function requestIdOf(response: ServerResponse): string {
  const id = response.getHeader(HEADER);
  return typeof id === "string" ? id : "";
}

function sentId({ headers }: IncomingMessage): string | undefined {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && HARMLESS.test(sent) ? sent : undefined;
}

function freshId(): string {
  return Buffer.from(systemRandom(RANDOM_BYTES)).toString("base64url");
}
