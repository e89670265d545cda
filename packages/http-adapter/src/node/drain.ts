import type { Server } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";

/**
 * How long an idle connection is left open while draining, in milliseconds: a request may be on its
 * way, and would be lost with the connection.
 */
const GRACE = 500;

/**
 * Closes a server without dropping what is under way: accepts no more connections, closes those that
 * stay idle, and cuts what is still open after `milliseconds`. Resolves when no connection is left.
 */
export function drain(
  server: Server,
  sockets: ReadonlySet<Socket>,
  milliseconds: number,
): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, milliseconds);
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      // Node does not count those as idle that have never sent anything.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, GRACE);
    // The HTTP server's own close would also cut idle connections at once, and stop its timeouts.
    TcpServer.prototype.close.call(server, () => {
      clearTimeout(deadline);
      clearInterval(sweep);
      resolve();
    });
  });
}
