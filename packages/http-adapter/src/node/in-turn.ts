import type { ServerResponse } from "node:http";

/**
 * Handles a request when its response has the connection to itself: pipelined requests are handled one
 * after the other. Behind a response with `Connection: close` a request is not handled at all (RFC 9112,
 * section 9.6). Node may hand such a response a socket that is closed already; ending it would then
 * "finish" out of order, which Node takes for a bug of its own and throws.
 */
export function inTurn(response: ServerResponse, handle: () => void): void {
  const { socket } = response;
  if (socket === null) response.once("socket", () => inTurn(response, handle));
  else if (!socket.destroyed && !socket.writableEnded) handle();
}
