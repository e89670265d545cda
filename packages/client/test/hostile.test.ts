import { createServer, type Server, type Socket } from "node:net";
import { createPetsClient, type ClientClock, type ClientEvent } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { listen } from "./support/stores.js";

const LIMITS = "X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 59\r\nX-RateLimit-Reset: 1";
const head = (status: string, ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, LIMITS, ...lines, "\r\n"].join("\r\n");
const whole = (status: string, body: string, ...lines: readonly string[]): string =>
  head(status, `Content-Length: ${Buffer.byteLength(body)}`, ...lines) + body;
const refusal = '{"code":"rate_limit_exceeded","message":"Come back in 1 second.","status":429}';
const html = "<html>Bad Gateway</html>";

/** Writes without an end, as long as the client reads. */
function flood(socket: Socket, text: string): void {
  const more = (): boolean => socket.destroyed || socket.write(text.repeat(1_000));
  socket.on("drain", () => {
    while (more() && !socket.destroyed);
  });
  while (more() && !socket.destroyed);
}

function drip(socket: Socket, text: string): void {
  socket.write(text);
  const timer = setInterval(() => socket.write(" "), 20);
  socket.on("close", () => clearInterval(timer));
}

const CHUNKED = "Transfer-Encoding: chunked";

/** What a server sends, the code of the outcome, and how it sends it: a text, and then it ends. */
test.each<readonly [string, string, string | ((socket: Socket) => unknown)]>([
  ["no HTTP", "unreachable", "\0\x01garbage\r\n\r\n"],
  ["an end at once", "unreachable", (socket) => socket.end()],
  ["a reset", "unreachable", (socket) => socket.resetAndDestroy()],
  [
    "a reset in the body",
    "unreachable",
    (socket) =>
      socket.write(head("200 OK", CHUNKED) + "1\r\n[\r\n", () => socket.resetAndDestroy()),
  ],
  ["half a body", "unreachable", head("200 OK", "Content-Length: 100") + "["],
  ["a body that ends in a chunk", "unreachable", head("200 OK", CHUNKED) + "5\r\n["],
  ["silence", "timed_out", () => undefined],
  ["a head that drips", "timed_out", (socket) => drip(socket, "HTTP/1.1 200 OK\r\nX-A: ")],
  [
    "a body that drips",
    "timed_out",
    (socket) => drip(socket, head("200 OK", "Content-Length: 1000")),
  ],
  [
    "an endless head",
    "unreachable",
    (socket) => flood(socket, `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(99)}\r\n`),
  ],
  [
    "an endless body",
    "unexpected_response",
    (socket) => {
      socket.write(head("200 OK"));
      flood(socket, "[[[[ ");
    },
  ],
  ["garbage", "unexpected_response", whole("200 OK", "\x1b\0}{")],
  [
    "no UTF-8",
    "unexpected_response",
    (socket) =>
      socket.end(
        Buffer.concat([Buffer.from(head("200 OK", "Content-Length: 1")), Buffer.from([0xff])]),
      ),
  ],
  ["nothing", "unexpected_response", whole("204 No Content", "")],
  [
    "an array of other things",
    "unexpected_response",
    whole("200 OK", '[{"id":"1","name":"Rex","categoryId":1,"status":"sold"}]'),
  ],
  [
    "an id beyond int64",
    "unexpected_response",
    whole("200 OK", '[{"id":9223372036854775808,"name":"Rex","categoryId":1,"status":"sold"}]'),
  ],
  [
    "quotes without an end",
    "unexpected_response",
    whole("200 OK", '"\\"'.repeat(100_000) + "1234567890123456"),
  ],
  ["no limits", "unexpected_response", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"],
  [
    "limits that are no numbers",
    "unexpected_response",
    "HTTP/1.1 200 OK\r\nX-RateLimit-Limit: -1\r\nX-RateLimit-Remaining: 1e9\r\nX-RateLimit-Reset: soon\r\nContent-Length: 2\r\n\r\n[]",
  ],
  [
    "a next page without after",
    "unexpected_response",
    whole("200 OK", "[]", 'Link: <?limit=1>; rel="next"'),
  ],
  [
    "a redirect to another host",
    "unexpected_response",
    whole("307 Temporary Redirect", "", "Location: http://127.0.0.1:1/v1/pets"),
  ],
  [
    "a proxy's HTML",
    "unexpected_response",
    // It is requested again: on a connection that may be kept, the request could meet its end.
    whole("502 Bad Gateway", html, "Connection: close"),
  ],
  ["an Error of another status", "unexpected_response", whole("400 Bad Request", refusal)],
  [
    "an unknown Error",
    "unexpected_response",
    whole("418 Teapot", '{"code":"teapot","message":"No.","status":418}'),
  ],
  [
    "Retry-After of 10^12",
    "rate_limit_exceeded",
    whole("429 Too Many Requests", refusal, "Retry-After: 1000000000000"),
  ],
  [
    "a Retry-After that is a date",
    "rate_limit_exceeded",
    whole("429 Too Many Requests", refusal, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"),
  ],
  [
    "Retry-After of soon",
    "rate_limit_exceeded",
    whole("429 Too Many Requests", refusal, "Retry-After: soon"),
  ],
  [
    "a proxy's 429",
    "unexpected_response",
    `HTTP/1.1 429 Slow Down\r\nRetry-After: 9\r\nContent-Length: 2\r\n\r\nno`,
  ],
])("a server that sends %s is %s, in time, and leaves nothing open", async (what, code, sends) => {
  const { baseUrl, open } = await serveRaw(
    typeof sends === "string" ? (socket) => socket.end(sends) : sends,
  );
  const { clock, timers } = createCountingClock();
  const isRefusal = code === "rate_limit_exceeded" || what === "a proxy's 429";
  let requests = 0;
  const client = createPetsClient({
    ...{ baseUrl, apiKey: "secret", maxResponseBytes: 100_000, backoffSeconds: 0.01 },
    // A refusal without a Retry-After closes the gate for a second.
    ...{ deadlineSeconds: isRefusal ? 1 : 60, clock },
    attemptSeconds: code === "timed_out" ? 0.3 : 10,
    onEvent: ({ type }) => (requests += type === "request" ? 1 : 0),
  });
  const outcome = await client.listPets();
  expect(outcome._unsafeUnwrapErr().code).toBe(code);
  expect(timers()).toBe(0);
  const isRepeated = ["unreachable", "timed_out"].includes(code) || what === "a proxy's HTML";
  expect(requests).toBe(isRepeated ? 3 : 1);
  // A connection whose response was complete may be used again.
  const isComplete = code !== "unreachable" && code !== "timed_out" && what !== "an endless body";
  if (!isComplete) await vi.waitFor(() => expect(open()).toBe(0));
});

test("a redirect takes the key nowhere", async () => {
  const other = await serveRaw((socket) => socket.end(whole("200 OK", "[]")));
  const { baseUrl } = await serveRaw((socket) =>
    socket.end(whole("307 Temporary Redirect", "", `Location: ${other.baseUrl}/pets`)),
  );
  const events: ClientEvent[] = [];
  const client = createPetsClient({
    baseUrl,
    apiKey: "secret",
    onEvent: (event) => events.push(event),
  });
  const error = (await client.listPets())._unsafeUnwrapErr();
  expect(error).toMatchObject({ code: "unexpected_response", status: 307 });
  expect(other.heads()).toBe(0);
  expect(JSON.stringify([error, events])).not.toContain("secret");
});

test("after a refusal for 10^12 seconds, the next call gets it without sending a request", async () => {
  const { baseUrl, heads } = await serveRaw((socket) =>
    socket.end(whole("429 Too Many Requests", refusal, "Retry-After: 1000000000000")),
  );
  const client = createPetsClient({ baseUrl });
  for (let count = 0; count < 3; count += 1) {
    const error = (await client.listPets())._unsafeUnwrapErr();
    expect(error).toMatchObject({ code: "rate_limit_exceeded" });
    expect(error).toHaveProperty("retryAfterSeconds", expect.closeTo(1e12, -1));
  }
  expect(heads()).toBe(1);
});

test("no server is unreachable", async () => {
  const client = createPetsClient({ baseUrl: "http://127.0.0.1:1/v1", backoffSeconds: 0 });
  expect((await client.listPets())._unsafeUnwrapErr()).toMatchObject({ code: "unreachable" });
});

/** The machine's clock, and how many of its timers run. */
function createCountingClock(): { readonly clock: ClientClock; readonly timers: () => number } {
  const running = new Set<NodeJS.Timeout>();
  const clock: ClientClock = {
    now: () => Date.now(),
    startTimer: (milliseconds, callback) => {
      const timer = setTimeout(() => {
        running.delete(timer);
        callback();
      }, milliseconds);
      running.add(timer);
      return () => {
        clearTimeout(timer);
        running.delete(timer);
      };
    },
  };
  return { clock, timers: () => running.size };
}

/** Serves each request by hand, for the length of a test. */
async function serveRaw(respond: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>();
  /** The connections on which a request has arrived; fetch also opens some in advance. */
  const asked = new Set<Socket>();
  let heads = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => asked.delete(socket));
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (!data.includes("\r\n\r\n")) return;
      heads += 1;
      asked.add(socket);
      respond(socket);
    });
  });
  const closeAllConnections = (): void => sockets.forEach((socket) => socket.destroy());
  const origin = await listen(Object.assign(server, { closeAllConnections }));
  return { baseUrl: `${origin}/v1`, open: () => asked.size, heads: () => heads };
}
