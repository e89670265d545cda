import type { Server } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";

/** Ends a server without dropping what is being served. */
export interface Drain {
  /** Is to see every connection. */
  readonly onConnection: (socket: Socket) => void;
  /** Whether the end has begun: then each answer is to say `Connection: close` (RFC 9112, section 9.6). */
  isDraining(): boolean;
  /**
   * Accepts no more connections and lets what is under way, and what still arrives, be answered.
   * Connections that stay idle are closed a moment later, and what is still open after `deadline`
   * milliseconds is cut. Resolves when no connection is left.
   */
  end(server: Server, deadline: number): Promise<void>;
}

/**
 * How long an idle connection is left open, in milliseconds: a request may be on its way, and would
 * be lost with the connection.
 */
const GRACE = 500;

/** A drain for one server. */
export function createDrain(): Drain {
  const connections = new Set<Socket>();
  let draining = false;

  const closeIdle = (server: Server): void => {
    server.closeIdleConnections();
    // Node does not count those as idle that have never said anything.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };

  return {
    onConnection: (socket) => {
      connections.add(socket);
      socket.once("close", () => connections.delete(socket));
    },
    isDraining: () => draining,
    end: (server, deadline) =>
      new Promise((resolve) => {
        draining = true;
        const cut = setTimeout(() => server.closeAllConnections(), deadline);
        const sweep = setInterval(() => closeIdle(server), GRACE);
        // The HTTP server's own close would also cut idle connections at once, and stop its timeouts.
        TcpServer.prototype.close.call(server, () => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
