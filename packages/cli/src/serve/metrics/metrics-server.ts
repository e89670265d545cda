import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { originForm } from "@petstore/http-adapter/internal";
import { err, ok, type Result } from "neverthrow";
import { limitConnections } from "../connections.js";
import { describeProblem, urlOf } from "../server.js";

/** Where the metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** A server of metrics that accepts connections. */
export interface MetricsServer {
  readonly url: string;
  readonly close: () => void;
}

/** Prometheus uses one connection. */
const MOST_CONNECTIONS = 32;
/** How long a client may take to send its request, and to read the response, in milliseconds. */
const TIMEOUT = 5_000;
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Serves metrics at `/metrics`, for Prometheus. Requests that arrive together share a collection. `Err` says why it
 * cannot listen.
 */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  collect: () => Promise<string>,
): Promise<Result<MetricsServer, string>> {
  let collecting: Promise<string> | undefined;
  const collectOnce = (): Promise<string> =>
    (collecting ??= collect().finally(() => (collecting = undefined)));
  const server = createServer({
    headersTimeout: TIMEOUT,
    requestTimeout: TIMEOUT,
    keepAliveTimeout: TIMEOUT,
    connectionsCheckingInterval: 500,
  });
  limitConnections(server, MOST_CONNECTIONS);
  server.setTimeout(TIMEOUT);
  const problem = await new Promise<Error | undefined>((resolve) => {
    server.once("error", resolve).listen(port, host, () => resolve(undefined));
  });
  if (problem !== undefined) return err(describeProblem(problem, host, port));
  const address = server.address();
  const isLocal = isLoopback(
    typeof address === "object" && address !== null ? address.address : host,
  );
  server.on(
    "request",
    (request, response) => void respond(request, response, collectOnce, isLocal),
  );
  return ok({
    url: `${urlOf(server, host)}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
}

async function respond(
  { url = "", method = "", headers }: IncomingMessage,
  response: ServerResponse,
  collect: () => Promise<string>,
  isLocal: boolean,
): Promise<void> {
  if (isLocal && !isLocalName(headers.host ?? "localhost")) {
    response.writeHead(403).end();
    return;
  }
  const [path] = originForm(url).split("?", 1);
  if (path !== "/metrics") {
    response.writeHead(404).end();
    return;
  }
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  try {
    const body = Buffer.from(await collect());
    response.writeHead(200, {
      "Content-Type": TEXT,
      "Content-Length": body.length,
      "X-Content-Type-Options": "nosniff",
    });
    response.end(method === "HEAD" ? undefined : body);
  } catch {
    response.writeHead(500).end();
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/** A page could let its own host name resolve to this address, and then read the metrics (DNS rebinding). */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d*$/, "");
  return name.toLowerCase() === "localhost" || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}
