import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { onTestFinished } from "vitest";

/** Has a server listen on 127.0.0.1, on a free port or on this one, unless it listens already. Resolves to its port. */
export async function portOf(server: Server, port = 0): Promise<number> {
  if (!server.listening) await once(server.listen(port, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Resolves to a free port, for a server that cannot report its port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves to a port that is in use until the end of the test. */
export async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return portOf(server);
}
