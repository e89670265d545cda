import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { dial } from "../../../http-adapter/test/support/wire.js";

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Sends these bytes in one segment. Resolves, to all that came back, when the server closes the connection. */
export const sendUntilClosed = async (url: string, bytes: string): Promise<string> =>
  (await dial(Number(new URL(url).port), undefined, bytes)).rest();
