import { connect } from "node:net";

/** Sends these bytes, closes this side, and gives all that came back. */
export function sendBurst(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (received += text));
    socket.on("end", () => socket.end());
    // A server may reset the connection after the response; the bytes before the reset count.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
    socket.end(Buffer.from(bytes, "latin1"));
  });
}
