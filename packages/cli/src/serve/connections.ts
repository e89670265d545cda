import type { Server } from "node:http";
import type { Socket } from "node:net";

/** A connection beyond the limit closes the one that has waited longest for a whole request; if none waits, itself. */
export function limitConnections(server: Server, most: number): void {
  // Those that have waited longest come first.
  const open = new Map<Socket, Set<() => boolean>>();
  server.on("connection", (socket: Socket) => {
    if (open.size >= most) {
      const idle = [...open].find(
        ([, requests]) => ![...requests].some((isRunning) => isRunning()),
      );
      const ended = idle?.[0] ?? socket;
      open.delete(ended);
      ended.destroy();
    }
    open.set(socket, new Set());
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    const requests = open.get(socket);
    // It is complete, and its response is not written yet.
    const isRunning = (): boolean => request.complete && !response.writableEnded;
    requests?.add(isRunning);
    response.once("close", () => {
      requests?.delete(isRunning);
      if (requests !== undefined && open.delete(socket)) open.set(socket, requests);
    });
  });
}
