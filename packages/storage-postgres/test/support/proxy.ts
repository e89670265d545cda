import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

/** Creates a network between storages and a server that fails when a test says so, until the end of the test. */
export async function createProxy(port: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  let onNextAnswer: ((end: () => void, client: Socket) => void) | undefined;
  let losesStatement = false;
  const dead = new WeakSet<readonly [Socket, Socket]>();
  let isFrozen = false;
  let target = port;

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    const pair = [client, upstream] as const;
    const end = (): void => {
      // The server does not see that its client is gone.
      if (isFrozen) return;
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    pairs.add(pair);
    for (const socket of pair) socket.on("error", end).on("close", end);
    client.on("data", (chunk) => {
      if (losesStatement) {
        losesStatement = false;
        end();
      } else if (!isFrozen && !dead.has(pair)) upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (isFrozen || dead.has(pair)) return;
      const isAnswer = chunk.includes("UPDATE 1") || chunk.includes("INSERT 0");
      if (!onNextAnswer || !isAnswer) return void client.write(chunk);
      onNextAnswer(end, client);
      onNextAnswer = undefined;
    });
  });
  const ownPort = await portOf(server);

  const cut = (): void => {
    for (const pair of [...pairs]) for (const socket of pair) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return {
    url: (database: string) => database.replace(`:${port}/`, `:${ownPort}/`),
    /** Loses the next answer of the server, and the connection with it. The statement was committed. */
    loseNextAnswer: () => void (onNextAnswer = (end) => end()),
    /** Answers with this error instead of the next answer of the server. The statement was committed. */
    refuseNextAnswer: (code: string, severity = "ERROR") =>
      void (onNextAnswer = (_end, client) => {
        const parts = Buffer.from(`S${severity}\0V${severity}\0C${code}\0Mserver lost\0\0`);
        const length = Buffer.alloc(4);
        length.writeInt32BE(parts.length + 4);
        client.write(Buffer.concat([Buffer.from("E"), length, parts, Buffer.from("Z\0\0\0\x05I")]));
      }),
    /** Loses the next statement, and the connection with it. The server does not get it. */
    loseNextStatement: () => void (losesStatement = true),
    cut,
    /** Leads to the server on this port from now on, like a name that moves, and cuts every connection. */
    leadTo: (port: number) => {
      target = port;
      cut();
    },
    /** Loses everything silently, and resolves, from the next answer of the server on. The statement was run. */
    freezeAtNextAnswer: () =>
      new Promise<void>((resolve) => {
        onNextAnswer = () => {
          isFrozen = true;
          resolve();
        };
      }),
    /** Loses nothing any longer. */
    thaw: () => {
      isFrozen = false;
      cut();
    },
    /** Loses silently what is sent over the connections that are open now. */
    silence: () => pairs.forEach((pair) => dead.add(pair)),
  };
}
