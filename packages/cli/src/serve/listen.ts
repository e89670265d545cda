import { createServer, type Server } from "node:http";
import type { PetStore } from "@petstore/core";
import { mount } from "@petstore/http-adapter";
import { err, ok, type Result } from "neverthrow";
import type { Terminal } from "../terminal.js";

const BASE_PATH = "/v1";

/** A server that accepts connections. */
export interface Listening {
  readonly server: Server;
  /** The base address, as a client on this machine uses it. */
  readonly url: string;
}

/** Mounts the store on a new server and listens. `Err` is one line for a person. */
export async function listen(
  store: PetStore,
  host: string,
  port: number,
  terminal: Terminal,
): Promise<Result<Listening, string>> {
  const server = createServer();
  mount(server, store, {
    basePath: BASE_PATH,
    onError: (cause) => terminal.error(`petstore: ${describe(cause)}`),
  });
  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => resolve(undefined));
  });
  if (problem !== undefined) return err(explain(problem, host, port));
  return ok({ server, url: addressOf(server, host) + BASE_PATH });
}

function explain(problem: Error, host: string, port: number): string {
  const reason =
    "code" in problem && problem.code === "EADDRINUSE" ? "the port is in use" : problem.message;
  return `cannot listen on ${host} port ${String(port)}: ${reason}`;
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${String(port)}`;
}

function describe(cause: unknown): string {
  if (cause instanceof Error) return cause.stack ?? cause.message;
  return typeof cause === "object" && cause !== null && "message" in cause
    ? String(cause.message)
    : String(cause);
}
