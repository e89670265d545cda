import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { createPetsClient } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { ANY, listen } from "./support/stores.js";

const LIMITS = "X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 59\r\nX-RateLimit-Reset: 1";
const head = (status: string, ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, LIMITS, ...lines, "\r\n"].join("\r\n");

function* endlessResponse() {
  yield head("200 OK");
  for (;;) yield "[[[[ ".repeat(1_000);
}

/** What a server sends, the code of the outcome, and how it sends it: a text, and then it ends. */
test.each<readonly [string, string, string | ((socket: Socket) => unknown)]>([
  ["no HTTP", "unreachable", "\0\x01garbage\r\n\r\n"],
  ["half a body", "unreachable", head("200 OK", "Content-Length: 100") + "["],
  ["half a chunk", "unreachable", head("200 OK", "Transfer-Encoding: chunked") + "5\r\n["],
  ["silence", "timed_out", () => undefined],
  ["an endless body", "unexpected_response", (to) => Readable.from(endlessResponse()).pipe(to)],
])("a server that sends %s is %s, in time, and leaves nothing open", async (_, code, sends) => {
  const { baseUrl, asked } = await serveRaw(
    typeof sends === "string" ? (socket) => socket.end(sends) : sends,
  );
  const client = createPetsClient({
    ...{ ...ANY, baseUrl, maxResponseBytes: 100_000, backoffSeconds: 0.01 },
    attemptSeconds: code === "timed_out" ? 0.3 : 10,
  });
  expect((await client.listPets())._unsafeUnwrapErr().code).toBe(code);
  await vi.waitFor(() => expect([...asked].filter(({ destroyed }) => !destroyed)).toEqual([]));
});

test("a redirect takes the key nowhere", async () => {
  const other = await serveRaw((socket) => socket.end(head("204 No Content")));
  const { baseUrl } = await serveRaw((socket) =>
    socket.end(head("307 Temporary Redirect", `Location: ${other.baseUrl}/pets`)),
  );
  const onEvent = vi.fn();
  const client = createPetsClient({ baseUrl, apiKey: "secret", onEvent });
  const error = (await client.listPets())._unsafeUnwrapErr();
  expect(error).toMatchObject({ code: "unexpected_response", status: 307 });
  expect(other.asked).toEqual(new Set());
  expect(JSON.stringify([error, onEvent.mock.calls])).not.toContain("secret");
});

/** Serves each request by hand. Counts the connections on which one has arrived; fetch also opens some in advance. */
async function serveRaw(respond: (socket: Socket) => unknown) {
  const asked = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (!data.includes("\r\n\r\n")) return;
      asked.add(socket);
      respond(socket);
    });
  });
  return { baseUrl: await listen(server), asked };
}
