import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Limits how many connections a server has. A new connection beyond the limit closes the one that has waited longest
 * for a whole request, so idle connections do not block new clients. If all are serving requests, the new one is closed.
 */
export function limitConnections(server: Server, most: number): void {
  // Those that have waited longest come first.
  const open = new Map<Socket, Set<Exchange>>();
  server.on("connection", (socket: Socket) => {
    if (open.size >= most) {
      const ended = longestWaiting(open) ?? socket;
      open.delete(ended);
      ended.destroy();
      if (ended === socket) return;
    }
    open.set(socket, new Set());
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    const exchanges = open.get(socket);
    const exchange = { request, response };
    exchanges?.add(exchange);
    response.once("close", () => {
      exchanges?.delete(exchange);
      if (exchanges !== undefined && open.delete(socket)) open.set(socket, exchanges);
    });
  });
}

function longestWaiting(open: ReadonlyMap<Socket, ReadonlySet<Exchange>>): Socket | undefined {
  for (const [socket, exchanges] of open) if (![...exchanges].some(isRunning)) return socket;
  return undefined;
}

/** Whether the server works on it: the request has arrived, and the response is not written yet. */
function isRunning({ request, response }: Exchange): boolean {
  return request.complete && !response.writableEnded;
}
