import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import {
  createHardenedServer,
  createNodeHandler,
  mount,
  type NodeOptions,
} from "@petstore/http-adapter";
import { err, ok, type Result } from "neverthrow";
import { describeUnknownError as describe } from "../describe-error.js";
import type { Report } from "../terminal.js";
import { createDocsHandler } from "./docs/docs-handler.js";
import type { Drain } from "./drain.js";
import { createHealthHandler } from "./health.js";
import { createRequestIds, remembered, REQUEST_ID } from "./request-id.js";
import type { LogLine } from "./log.js";
import { createRequestLog } from "./request-log.js";
import { watchRequests } from "./requests.js";

const BASE_PATH = "/v1";

/** A server that accepts connections. */
export interface Listening {
  readonly server: Server;
  /** The base address, as a client on this machine uses it. */
  readonly url: string;
}

/** Where to listen, and who sees the requests. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly drain: Drain;
  /** Gets a line for each request; none is written when left out. */
  readonly log: ((line: LogLine) => void) | undefined;
  readonly report: Report;
}

/** Mounts the store on a new server, beside the docs, and listens. `Err` is a line for a person. */
export async function listen(
  store: PetStore,
  { host, port, drain, log: logger, report }: ListenOptions,
): Promise<Result<Listening, string>> {
  const options: NodeOptions = {
    basePath: BASE_PATH,
    onError: (cause) => report(describe(cause)),
  };
  const health = createHealthHandler(store, () => drain.isDraining());
  const docs = createDocsHandler();
  const elsewhere = createNodeHandler(store, options);
  const server = createHardenedServer();

  const requestIds = createRequestIds();
  const idOf = logger === undefined ? requestIds : remembered(requestIds);
  const headersFor = (request: IncomingMessage): readonly string[] =>
    drain.isDraining()
      ? [REQUEST_ID, idOf(request), "Connection", "close"]
      : [REQUEST_ID, idOf(request)];
  const log = logger && createRequestLog(logger, idOf);
  if (log) watchRequests(server, log);
  server.on("connection", drain.onConnection);
  server.on("request", (request, response) => {
    setHeaders(response, headersFor(request));
    health(request, response, () => docs(request, response, () => elsewhere(request, response)));
  });
  mount(server, store, {
    ...options,
    ownsServer: true,
    headers: headersFor,
    onUnreadable: log && ((response) => log(response.req, response)),
  });
  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => resolve(undefined));
  });
  if (problem !== undefined) return err(explain(problem, host, port));
  return ok({ server, url: addressOf(server, host) + BASE_PATH });
}

function setHeaders(response: ServerResponse, headers: readonly string[]): void {
  for (let index = 0; index < headers.length; index += 2) {
    response.setHeader(headers[index] ?? "", headers[index + 1] ?? "");
  }
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
