import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { originForm } from "@petstore/http-adapter/internal";
import { err, ok, type Result } from "neverthrow";
import { limitConnections } from "../connections.js";
import type { MetricsAddress } from "../serve-options.js";
import { listenOn } from "../server.js";

/** Prometheus uses one connection. */
const MOST_CONNECTIONS = 32;
/** How long a client may take to send its request, and to read the response, in milliseconds. */
const TIMEOUT = 5_000;
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

/** Serves metrics at `/metrics`, for Prometheus. Requests that arrive together share a collection. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  collect: () => Promise<string>,
): Promise<Result<{ readonly url: string; readonly close: () => void }, string>> {
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
  const listening = await listenOn(server, host, port);
  if (listening.isErr()) return err(listening.error);
  const address = server.address();
  const isLocal = typeof address === "object" && /^(?:::1$|127\.)/.test(address?.address ?? host);
  server.on(
    "request",
    (request, response) => void respond(request, response, collectOnce, isLocal),
  );
  return ok({
    url: `${listening.value}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  collect: () => Promise<string>,
  isLocal: boolean,
): Promise<void> {
  const refusal = refusalOf(request, isLocal);
  if (refusal !== undefined) {
    response.writeHead(refusal, refusal === 405 ? { Allow: "GET, HEAD" } : {}).end();
    return;
  }
  try {
    const body = Buffer.from(await collect());
    const more = { "Content-Length": body.length, "X-Content-Type-Options": "nosniff" };
    response.writeHead(200, { "Content-Type": TEXT, ...more });
    response.end(request.method === "HEAD" ? undefined : body);
  } catch {
    response.writeHead(500).end();
  }
}

function refusalOf(request: IncomingMessage, isLocal: boolean): number | undefined {
  const { url = "", method = "", headers } = request;
  if (isLocal && !isLocalName(headers.host ?? "localhost")) return 403;
  if (originForm(url).split("?", 1)[0] !== "/metrics") return 404;
  return method === "GET" || method === "HEAD" ? undefined : 405;
}

/** A page could let its own host name resolve to this address, and then read the metrics (DNS rebinding). */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d*$/, "");
  return name.toLowerCase() === "localhost" || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}
