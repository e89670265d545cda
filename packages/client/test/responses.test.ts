import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { createManualClock, createPetsClient } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { ANY, listen } from "./support/stores.js";

const limits = (limit: string, remaining: string, reset: string) => ({
  ...{ "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset },
});
const LIMITS = { ...limits("60", "59", "1"), "X-Request-Id": "r-1" };
const petsWith = (id: string, category = "1"): string =>
  `[{"id":${id},"name":"Rex","categoryId":${category},"status":"sold"}]`;
const MALFORMED = "Its body or its Link is malformed.";

const errorOf = (status: number, code: string): string =>
  JSON.stringify({ code, message: "Come back in 1 second.", status });

async function listFrom(
  body: ConstructorParameters<typeof Response>[0],
  { headers = LIMITS, status = 200 }: { headers?: object; status?: number } = {},
  maxResponseBytes = 500_000,
) {
  const response = new Response(body, { status, headers: { ...headers } });
  const fetch = () => Promise.resolve(response);
  return createPetsClient({ ...ANY, fetch, maxResponseBytes }).listPets();
}

test.each<[string, string, string | Uint8Array | null, Record<string, string>?, status?: number]>([
  ["garbage", "It is not JSON.", "\x1b\0}{"],
  ["nothing", "It is not JSON.", null, LIMITS, 204],
  ["a byte order mark", "It is not JSON.", "\ufeff[]"],
  ["quotes without an end", "It is not JSON.", `${'"\\"'.repeat(99_999)}1234567890123456`],
  ["no UTF-8 in a name", "It is not UTF-8.", Uint8Array.of(0x22, 0xff, 0x22), LIMITS, 404],
  ["one byte more than it may", "It is longer than 500000 bytes.", "[]".padEnd(500_001)],
  ["an array of other things", MALFORMED, petsWith('"1"')],
  ["an id beyond int64", MALFORMED, petsWith("9223372036854775808")],
  ["a category below int64", MALFORMED, petsWith("1", "-9223372036854775809")],
  ["a next page without after", MALFORMED, "[]", { ...LIMITS, Link: '<?limit=1>; rel="next"' }],
  ["an Error of another status", "It is not an Error", errorOf(429, "invalid_query"), LIMITS, 400],
  ["an unknown Error", "teapot: Come back", errorOf(418, "teapot"), LIMITS, 418],
  ["a refusal that is no 429", "api_key_banned:", errorOf(400, "api_key_banned"), LIMITS, 400],
])("%s is an unexpected response", async (_, problem, body, headers = LIMITS, status = 200) => {
  const error = (await listFrom(body, { status, headers }))._unsafeUnwrapErr();
  expect(error).toMatchObject({ code: "unexpected_response", status, requestId: "r-1" });
  expect(error.message).toContain(problem);
});

test("a body is read whole, wherever it is cut, also if it has exactly maxResponseBytes", async () => {
  expect((await listFrom("[]", {}, 2)).isOk()).toBe(true);
  const body = Buffer.from(petsWith("1", "9223372036854775807").replace("Rex", "🐈"));
  const pet = { id: 1n, name: "🐈", categoryId: 9223372036854775807n, status: "sold" };
  for (const pieces of [
    Array.from(body, (byte) => Buffer.of(byte)),
    ...Array.from(body, (_, at) => [body.subarray(0, at), body.subarray(at)]),
  ]) {
    const listed = await listFrom(ReadableStream.from(pieces));
    expect(listed._unsafeUnwrap().pets).toEqual([pet]);
  }
});

test.each<[header: string, seconds: number, date?: Record<string, string>]>([
  ["1000000000000", 1e12],
  ["Fri, 31 Dec 9999 23:59:59 GMT", 3_599],
  ["Fri, 31 Dec 9999 23:59:59 GMT", 60, { Date: "Fri, 31 Dec 9999 23:58:59 GMT" }],
  ["Friday, 31-Dec-99 23:59:59 GMT", 1],
  ["Fri Dec 31 23:59:59 9999", 3_599],
  ["120, 120", 120],
  ["60, 3000", 3_000],
  ["9999-12-31", 1],
])("after a 429 with Retry-After: %s, calls wait %i s", async (header, seconds, date = {}) => {
  const headers = { ...LIMITS, "Retry-After": header, ...date };
  const refusal = errorOf(429, "rate_limit_exceeded").replace("Come", "9".repeat(200_000));
  const fetch = vi.fn(() => Promise.resolve(new Response(refusal, { status: 429, headers })));
  const clock = createManualClock(Date.UTC(9999, 11, 31, 23));
  const random = (size: number) => new Uint8Array(size);
  const client = createPetsClient({ ...ANY, fetch, clock, random, deadlineSeconds: 1 });
  const before = process.cpuUsage();
  for (let call = 0; call < 3; call += 1) {
    const error = (await client.listPets())._unsafeUnwrapErr();
    expect(error).toMatchObject({ code: "rate_limit_exceeded", retryAfterSeconds: seconds });
  }
  expect(fetch).toHaveBeenCalledOnce();
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

test.each<[link: string, next: bigint | undefined]>([
  ['<?after=5>; rel="prev next"', 5n],
  ['<?after=5> ; rel = "NEXT"', 5n],
  ["<?after=5>;rel=next", 5n],
  ['<?after=5>; title="a<b"; rel="next"', 5n],
  ['<?after=4>; rel="prev", <?after=5>; rel="next"', 5n],
  ['<?after=5>; rel="next-archive"', undefined],
  ['<?after=5>; title="\\"; rel=next; "', undefined],
  ['<?after=5>; rel="prev"; rel="next"', undefined],
  ['<?after=5>; rel="next"; anchor="/other"', undefined],
  ["<".repeat(15_000), undefined],
  [`<a>;b="${'\\"'.repeat(7_000)}`, undefined],
])("the next page in Link: %s is read as RFC 8288 says", async (link, next) => {
  const listed = await listFrom("[]", { headers: { ...LIMITS, Link: link } });
  expect(listed._unsafeUnwrap().next).toBe(next);
});

test("quotes, backslashes and fractions in a name, and any number in an unknown field, hide no long id", async () => {
  const name = ['1.5 "', "2e3", "\\", '"id":1', '\\"\\'].join("\\");
  for (const weight of ["0.30000000000000004", "-1234567890123456e5", "1E-1234567890123456"]) {
    const body = petsWith("1234567890123456789").replace("}", `,"weight":${weight}}`);
    const listed = await listFrom(body.replace('"Rex"', () => JSON.stringify(name)));
    expect(listed._unsafeUnwrap().pets).toMatchObject([{ id: 1234567890123456789n, name }]);
  }
});

const MINUTE = { limit: 60, remaining: 58 };
const DAY = { limit: 1_000, remaining: 900 };
const ONE_WINDOW = { "RateLimit-Policy": '"minute";q=60', RateLimit: '"minute";r=59;t=1' };

test.each<[policy: string, left: string]>([
  ['"day";w=86400;q=1000,"minute";w=60;q=60', '"day";t=9;r=900 , "minute" ; t=1 ; r=58'],
  [
    '"minute;q=1";q=2, "minute";pk=:YQ==:;q=60;qu="requests", "day";x="\\";q=3";q=1000',
    '"minute";a;r=58;t=1, "day";r=900;t=9;b=?1',
  ],
])("both windows are read from RateLimit-Policy: %s", async (policy, left) => {
  const headers = { ...LIMITS, "RateLimit-Policy": policy, RateLimit: left };
  const { quota } = (await listFrom("[]", { headers }))._unsafeUnwrap();
  expect(quota).toMatchObject({ minute: MINUTE, day: DAY });
});

test.each([
  ["twice", { ...LIMITS, "X-RateLimit-Limit": "60, 60" }, 60],
  ["twice, and not alike", { ...LIMITS, "X-RateLimit-Limit": "60, 61" }, Infinity],
  ["no limits", {}, Infinity],
  ["one window of the draft", { ...LIMITS, ...ONE_WINDOW }, 60],
  ["limits that are no numbers", limits("-1", "1e9", "soon"), Infinity],
  ["more seconds than are exact", limits("60", "59", "10000000000000"), Infinity],
  ["the largest limits", { ...LIMITS, "X-RateLimit-Limit": "9007199254740991" }, 2 ** 53 - 1],
])("a page with %s is a page", async (_, headers, limit) => {
  const { pets, quota } = (await listFrom("[]", { headers }))._unsafeUnwrap();
  expect([pets, quota.limit]).toEqual([[], limit]);
  // Without both windows of the draft, each shows the one that binds.
  const { remaining, resetAt } = quota;
  expect([quota.minute, quota.day]).toEqual(Array(2).fill({ limit, remaining, resetAt }));
});

const LIMIT_LINES = Object.entries(LIMITS).map(([name, value]) => `${name}: ${value}`);
const head = (status: string, ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...LIMIT_LINES, ...lines, "\r\n"].join("\r\n");

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
  const respond = typeof sends === "string" ? (to: Socket) => to.end(sends) : sends;
  const { baseUrl, asked } = await serveRaw(respond);
  const client = createPetsClient({
    ...{ ...ANY, baseUrl, maxResponseBytes: 100_000, backoffSeconds: 0.01 },
    attemptSeconds: code === "timed_out" ? 0.3 : 10,
  });
  expect((await client.listPets())._unsafeUnwrapErr().code).toBe(code);
  await vi.waitFor(() => expect([...asked].filter(({ destroyed }) => !destroyed)).toEqual([]));
});

test("a redirect takes the key nowhere", async () => {
  const other = await serveRaw((socket) => socket.end(head("204 No Content")));
  const redirect = head("307 Temporary Redirect", `Location: ${other.baseUrl}/pets`);
  const { baseUrl } = await serveRaw((socket) => socket.end(redirect));
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
