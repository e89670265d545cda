import { createFetchHandler, type FetchHandler } from "@petstore/http-adapter";
import { describeHost } from "./describe-host.js";
import type { Host, Setting } from "./host.js";

const SOCKET = "a Request comes without a connection";

const skips: Host["skips"] = {
  "404: dot segments are not resolved": "a Request's URL has been normalised",
  "HEAD: nothing follows the headers on the wire": SOCKET,
  "413: a chunked body over the limit": `${SOCKET}: test/fetch.test.ts`,
  "431: more header lines than Node keeps, whoever refuses them": SOCKET,
  "a body that comes in pieces": `${SOCKET}: test/fetch.test.ts`,
  "an aborted upload adds no pet, and other requests are served": `${SOCKET}: test/fetch.test.ts`,
  "one connection carries many requests, also after unread bodies": SOCKET,
  "pipelined requests get their responses in order": SOCKET,
  "100 Continue comes after the checks, or not at all": SOCKET,
  "417: an unknown expectation": SOCKET,
};

const plain: Host = {
  name: "a function of a WHATWG Request",
  basePath: "/v1",
  resolvesDots: true,
  start: (setting) => {
    const handle = createHandler(setting, "/v1");
    return {
      fetch: async (request) =>
        (isBelow(request, "/v1") ? handle?.(request) : undefined) ?? host(request),
    };
  },
  skips,
};

/** Next looks the method up among a module's exports, and passes the parameters of the path. */
const nextLike: Host = {
  name: "a Next-like route",
  basePath: "/api/v1",
  resolvesDots: true,
  start: (setting) => {
    const handler = createHandler(setting, "/api/v1");
    const route: Record<string, FetchHandler | undefined> = {
      ...{ GET: handler, HEAD: handler, POST: handler, PUT: handler },
      ...{ PATCH: handler, DELETE: handler, OPTIONS: handler },
    };
    return {
      fetch: async (request) => {
        const handle = isBelow(request, "/api/v1") ? route[request.method] : undefined;
        return handle?.(request, { params: Promise.resolve({}) }) ?? host(request);
      },
    };
  },
  skips: {
    ...skips,
    "405: also for methods that few have heard of": "Next responds to what a route does not export",
  },
};

describeHost(plain);
describeHost(nextLike);

function createHandler(
  { store, behindProxy }: Setting,
  basePath: string,
): FetchHandler | undefined {
  const origin = behindProxy ? lastHop : undefined;
  return store === undefined ? undefined : createFetchHandler(store, { basePath, origin });
}

function lastHop(request: Request): string | undefined {
  return request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
}

function isBelow({ url }: Request, basePath: string): boolean {
  const { pathname } = new URL(url);
  return pathname === basePath || pathname.startsWith(`${basePath}/`);
}

async function host(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/hello") return new Response("hello");
  if (pathname === "/echo") return new Response(await nameIn(request));
  if (pathname === "/boom") return new Response("The host's own error page", { status: 500 });
  return new Response("The host's own 404", { status: 404 });
}

async function nameIn(request: Request): Promise<string> {
  const body: unknown = await request.json().catch(() => ({}));
  return String(Object.entries(body ?? {}).find(([name]) => name === "name")?.[1]);
}
