import type { IncomingMessage } from "node:http";
import { badRequest, type BadRequest } from "../refusal.js";
import { headerLines } from "./header-lines.js";

/** RFC 9112, section 3.2: a host and perhaps a port, or nothing. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** What is wrong with the message itself that Node's parser let through. */
export function flawOf(request: IncomingMessage): BadRequest | undefined {
  const hosts = headerLines(request.rawHeaders, "host");
  const [host] = hosts;
  if (host === undefined) return isHttp10(request) ? undefined : NO_HOST;
  if (hosts.length > 1) return TWO_HOSTS;
  return HOST.test(host) ? undefined : BAD_HOST;
}

const NO_HOST = Object.freeze(badRequest("The Host header is missing."));
const TWO_HOSTS = Object.freeze(badRequest("There is more than one Host header."));
const BAD_HOST = Object.freeze(badRequest("The Host header is no host."));

function isHttp10({ httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor === 0;
}
