import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

/** A network between storages and a server that fails when a test says so. */
export interface Proxy {
  /** The URL of the server, through this network. */
  url(database: string): string;
  /** Loses the next answer of the server, and the connection with it. The statement was committed. */
  loseNextAnswer(): void;
  /** Loses the next statement, and the connection with it. The server does not get it. */
  loseNextStatement(): void;
  /** Leads to the server on this port from now on, like a name that moves, and cuts every connection. */
  leadTo(port: number): void;
  /** Cuts every connection. */
  cut(): void;
  /** Loses everything silently, and resolves, from the next answer of the server on. The statement was run. */
  freezeAtNextAnswer(): Promise<void>;
  /** Loses silently what is sent over the connections that are open now. */
  silence(): void;
  /** Loses nothing any longer. */
  thaw(): void;
}

/** Creates a network that lasts until the end of the test. */
export async function createProxy(port: number): Promise<Proxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let onNextAnswer: ((end: () => void) => void) | undefined;
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
      onNextAnswer(end);
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
    url: (database) => database.replace(`:${port}/`, `:${ownPort}/`),
    loseNextAnswer: () => {
      onNextAnswer = (end) => end();
    },
    loseNextStatement: () => {
      losesStatement = true;
    },
    cut,
    leadTo: (port) => {
      target = port;
      cut();
    },
    freezeAtNextAnswer: () =>
      new Promise((resolve) => {
        onNextAnswer = () => {
          isFrozen = true;
          resolve();
        };
      }),
    thaw: () => {
      isFrozen = false;
      cut();
    },
    silence: () => {
      for (const pair of pairs) dead.add(pair);
    },
  };
}
