import { createServer } from "node:http";
import type { ConsoleHandler } from "@petstore/console";
import type { RandomSource } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeProblem } from "../serve/server.js";
import { createLogin, type Login } from "./login.js";

/** A console that accepts connections. */
export interface ServedConsole extends Pick<Login, "newLink"> {
  readonly close: () => Promise<void>;
}

const HOST = "127.0.0.1";
const PATH_BYTES = 16;
/** A browser uses six; other users of the machine may use the rest up, but no more. */
const MOST_CONNECTIONS = 200;
/** How long a request may take to arrive, in milliseconds. */
const TIMEOUT = 10_000;

/** Serves a console on this machine, under a random path. `Err` says why it cannot. */
export async function serveConsole(
  create: (basePath: string) => ConsoleHandler,
  port: number,
  random: RandomSource,
): Promise<Result<ServedConsole, Error>> {
  const basePath = `/${Buffer.from(random(PATH_BYTES)).toString("base64url")}`;
  const server = createServer({
    headersTimeout: TIMEOUT,
    requestTimeout: TIMEOUT,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = MOST_CONNECTIONS;
  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve).listen(port, HOST, () => resolve(undefined));
  });
  if (problem !== undefined) return err(new Error(describeProblem(problem, HOST, port)));
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  const origin = `http://${HOST}:${bound}`;
  const { handle, newLink } = createLogin(create(basePath), { origin, basePath, random });
  // eslint-disable-next-line no-restricted-syntax -- All other commands start without it.
  const { getRequestListener } = await import("@hono/node-server");
  const listener = getRequestListener(handle, { overrideGlobalObjects: false });
  server.on("request", (request, response) => void listener(request, response));
  return ok({
    newLink,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
