import { once } from "node:events";
import { connect, type Socket } from "node:net";

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may reset the connection.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Sends these bytes in one segment. Resolves, to all that came back, when the server closes the connection. */
export async function sendUntilClosed(url: string, bytes: string): Promise<string> {
  const socket = await openSocket(url);
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return received;
}
