import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import type { ServerSettings } from "../options.js";
import type { Refusal } from "../refusal.js";
import { renderError } from "../render.js";
import { createReports } from "../report.js";
import { linger } from "./linger.js";

/** Refuses a message that could not be read, as the last response of a connection. */
export type RefuseUnread = (refusal: Refusal, socket: Socket) => void;

/**
 * Responses without a request, for a store: their quota is that of the socket's address. To be
 * called when every response before is sent.
 */
export function createUnreadRefusals(
  store: PetStore,
  { onError, onResponse, requestIdOf, clock }: ServerSettings,
): RefuseUnread {
  const startReport = createReports(onResponse, clock);
  return (refusal, socket) => {
    if (!socket.writable) return;
    const report = startReport();
    try {
      const quota = store.anonymousQuota(socket.remoteAddress);
      const { status, headers, body } = renderError(refusal, quota);
      const requestId = requestIdOf(undefined);
      const fields = {
        ...headers,
        "X-Request-Id": requestId,
        Date: new Date(clock.now()).toUTCString(),
        Connection: "close",
      };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
      socket.write(`${statusLine}${lines.join("")}\r\n${body}`);
      const { code } = refusal;
      report?.({ operation: undefined, status, code, keyId: undefined, requestId });
    } catch (cause) {
      onError(cause);
    }
    linger(socket);
  };
}
