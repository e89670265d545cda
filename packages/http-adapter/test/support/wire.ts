import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface WireResponse {
  readonly status: number;
  /** By lower-case name; lines with the same name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Wire = Awaited<ReturnType<typeof dial>>;
export type Open = (port: number, host: string) => Socket;

/** Connects to a server on this machine, by TCP or as `open` does, and sends these bytes. */
export async function dial(port: number, open: Open = connect, bytes = "") {
  const socket = open(port, "127.0.0.1");
  let received = "";
  let wake: () => void = () => undefined;
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
    wake();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => wake());
  await once(socket, "connect");
  if (bytes !== "") socket.write(bytes);

  async function until(found: () => number): Promise<number> {
    for (;;) {
      const at = found();
      if (at >= 0) return at;
      if (socket.closed) throw new Error(`The connection closed after ${JSON.stringify(received)}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async function response(method = "GET"): Promise<WireResponse> {
    const end = await until(() => received.indexOf("\r\n\r\n"));
    const { status, headers } = parseHead(received.slice(0, end));
    const length = method !== "HEAD" && status >= 200 ? Number(headers["content-length"] ?? 0) : 0;
    const stop = await until(() => (received.length >= end + 4 + length ? end + 4 + length : -1));
    const body = Buffer.from(received.slice(end + 4, stop), "latin1").toString("utf8");
    received = received.slice(stop);
    return { status, headers, body };
  }

  return {
    socket,
    send: (bytes: string | Uint8Array) => void socket.write(bytes),
    /** The next response; a response to HEAD has no body whatever its length says. */
    response,
    exchange: (bytes: string | Uint8Array) => {
      socket.write(bytes);
      return response();
    },
    /** Resolves to the bytes after the responses that were read, when the other side closes. */
    rest: async () => {
      while (!socket.closed) await new Promise<void>((resolve) => (wake = resolve));
      return received;
    },
  };
}

function parseHead(head: string): Pick<WireResponse, "status" | "headers"> {
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(":")).toLowerCase();
    const value = line.slice(line.indexOf(":") + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { status: Number(statusLine.split(" ")[1]), headers };
}
