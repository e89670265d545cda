import { once } from "node:events";
import { createServer } from "node:net";

/** A port that nobody listens on, for a server that cannot say which it has got. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
