import { systemRandom } from "@petstore/core";

/** What a response and a log may repeat without harm. */
const HARMLESS = /^[\w.:=+/-]{1,128}$/;

/** Returns the id of a request: the client's own if it is harmless, else a fresh one. */
export function requestIdOf(sent: string | readonly string[] | null | undefined): string {
  if (typeof sent === "string" && HARMLESS.test(sent) && !sent.includes("pet_live_")) return sent;
  return Buffer.from(systemRandom(12)).toString("base64url");
}
