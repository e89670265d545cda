import fc, { type Arbitrary } from "fast-check";
import { expect, test } from "vitest";
import { sized, seed } from "../../../scripts/test-size.js";
import { collectGarbage } from "./support/garbage.js";
import { connectionsOf, issue, serve, type Served } from "./support/serve.js";

const REQUESTS = sized(400, 20_000, 500_000);
const CONNECTIONS = 40;

test(`${REQUESTS} requests of any kind: never 5xx, always the headers, an Error body on 4xx (PETSTORE_SEED=${seed})`, async () => {
  const plans = { fuzz: { perMinute: 100_000_000, perDay: 100_000_000 } };
  const { dial, store, clock, server, call } = await serve({ store: { plans } });
  const key = await issue(store, "fuzz");
  let responses = 0;
  let heap = 0;
  const batch = fc.array(burst, { minLength: CONNECTIONS, maxLength: CONNECTIONS });
  const property = fc.asyncProperty(batch, async (bursts) => {
    if (responses >= REQUESTS) return;
    clock.advance(60_000);
    for (const count of await Promise.all(bursts.map((bytes) => send(dial, bytes, key)))) {
      responses += count;
    }
    if (heap === 0 && responses > REQUESTS / 4) heap = heapAfterCollection();
  });
  await fc.assert(property, { seed, numRuns: Math.ceil(REQUESTS / CONNECTIONS) });

  expect(responses).toBeGreaterThanOrEqual(REQUESTS);
  expect((await call()).status).toBe(200);
  await expect.poll(() => connectionsOf(server)).toBe(0);
  expect(heapAfterCollection() - heap).toBeLessThan(16 * 1_048_576);
});

/** Sends these bytes on a connection, and checks each response. Resolves to their number. */
async function send(dial: Served["dial"], bytes: string, key: string): Promise<number> {
  const sent = bytes.replaceAll("{key}", key);
  const wire = await dial();
  wire.socket.end(Buffer.from(sent, "latin1"));
  let count = 0;
  for (let rest = await wire.rest(); rest !== ""; count += 1) rest = checkFirst(rest, sent);
  // A server may ignore empty lines before a request (RFC 9112, section 2.2).
  if (/[^\r\n]/.test(sent)) expect(count, sent).toBeGreaterThan(0);
  return count;
}

/** Checks the first of these responses. Returns the others. */
function checkFirst(received: string, sent: string): string {
  const [top = ""] = received.split("\r\n\r\n", 1);
  const head = top.toLowerCase();
  const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const rest = received.slice(head.length + 4);
  if (status === 100) return rest;
  const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1]);
  // No JSON text begins like a status line: that is the next response, and this was one to HEAD.
  const hasBody = rest !== "" && !rest.startsWith("HTTP/1.1 ");
  const body = rest.slice(0, length);
  // Not expect: a million of them take their time.
  const isFine =
    status >= 200 &&
    status < 500 &&
    ["limit", "remaining", "reset"].every((name) => head.includes(`\r\nx-ratelimit-${name}: `)) &&
    (hasBody
      ? body.length === length && (status < 400 || isError(body, status))
      : sent.includes("HEAD"));
  if (!isFine) throw new Error(`${received}\n\nto ${JSON.stringify(sent)}`);
  return hasBody ? rest.slice(length) : rest;
}

function isError(body: string, expected: number): boolean {
  const error = JSON.parse(body) as Record<string, unknown>;
  const { code, message, status, ...others } = error;
  const areTexts = typeof code === "string" && typeof message === "string";
  return areTexts && status === expected && Object.keys(others).length === 0;
}

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Chooses among arbitraries, or lists of texts, by their weights. */
function choose(
  ...choices: readonly (readonly [weight: number, of: Arbitrary<string> | readonly string[]])[]
): Arbitrary<string> {
  const weighted = choices.map(([weight, of]) => ({
    weight,
    arbitrary: of instanceof fc.Arbitrary ? of : fc.constantFrom(...of),
  }));
  return fc.oneof(...weighted);
}

const joined = (...parts: readonly (Arbitrary<string> | string)[]): Arbitrary<string> =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((texts) => texts.join(""));

const visible = fc.stringMatching(/^[!-~]{0,20}$/);
const rawBytes = fc
  .uint8Array({ maxLength: 60 })
  .map((bytes) => Buffer.from(bytes).toString("latin1"));

const method = choose(
  [8, ["GET", "HEAD", "POST", "POST", "POST"]],
  [3, ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]],
  [1, fc.stringMatching(/^[A-Za-z-]{1,8}$/)],
);
const parameter = joined(choose([1, ["limit=", "status=", "after=", "x="]]), visible);
const query = choose(
  [1, ["", "?limit=5", "?status=sold", "?after=3", "?limit=0&status=x"]],
  [1, joined("?", visible)],
  [1, fc.array(parameter, { maxLength: 4 }).map((pairs) => `?${pairs.join("&")}`)],
);
const paths = ["/v1", "/v1/", "/v1/pets", "/v1/pets/", "/v1/pets/1", "http://a/v1/pets", "/"];
const target = choose(
  [9, joined(choose([1, paths]), choose([3, [""]], [1, visible]), query)],
  [1, ["*", "a:80", "//", "x", `/${"y".repeat(17_000)}`]],
  [1, rawBytes],
);
const version = choose(
  [20, ["HTTP/1.1"]],
  [1, ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "RTSP/1.0", ""]],
  [1, fc.stringMatching(/^[!-~]{1,9}$/)],
);
const names = ["Content-Type", "Content-Encoding", "Expect", "Accept", "Authorization", "X-A"];
const text = fc.stringMatching(/^[ -~\x80-\xff]{0,60}$/);
const header = choose(
  [1, joined(choose([1, names]), ": ", text)],
  [1, ["Content-Type: application/json", "Expect: 100-continue", "Content-Length: 3", "Host: a"]],
  [1, ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked", `X: ${"z".repeat(17_000)}`]],
  [1, ["Connection: keep-alive", "Connection: close", "Connection: Upgrade\r\nUpgrade: websocket"]],
  [1, rawBytes],
);

const json = fc.json().map((value) => Buffer.from(value).toString("latin1"));
const pet = fc
  .record(
    {
      name: choose([1, json], [1, ['"Rex"']]),
      categoryId: choose([1, json], [1, fc.bigInt().map(String)], [1, fc.double().map(String)]),
      status: choose([1, json], [1, ['"sold"', '"gone"']]),
      __proto__: json,
    },
    { requiredKeys: [] },
  )
  .map((fields) => Object.entries(fields).map(([name, value]) => `"${name}":${value}`))
  .map((members) => `{${members.join()}}`);
const body = choose(
  [4, ["", '{"name":"Rex","categoryId":9007199254740993}']],
  [2, pet],
  [1, json],
  [1, rawBytes],
  [1, ["[".repeat(5_000), '"'.repeat(66_000), "9".repeat(3_000)]],
);

const LENGTH = "Content-Length: ";
const CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";
const chunk = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`;

/** A body with its framing, right or wrong, after the blank line that ends the header section. */
const framed = choose(
  [32, body.map((all) => `${LENGTH}${all.length}\r\n\r\n${all}`)],
  [12, body.map((all) => `${CHUNKED}${all && chunk(all)}0\r\n\r\n`)],
  [1, body.map((all) => `${LENGTH}${all.length + 10}\r\n\r\n${all}`)],
  [1, body.map((all) => `${LENGTH}${Math.max(0, all.length - 10)}\r\n\r\n${all}`)],
  [1, body.map((all) => `\r\n${all}`)],
  [1, body.map((all) => `${CHUNKED}${chunk(all)}zz`)],
);

const AUTH = "Authorization: Bearer";
const key = choose([3, [`${AUTH} {key}\r\n`]], [2, [`${AUTH} nonsense\r\n`, ""]]);
const host = choose([6, ["Host: a\r\n"]], [1, [""]]);
const lines = choose(
  [2, ["\r\n"]],
  [1, fc.array(header, { maxLength: 3 }).map((all) => ["", ...all, ""].join("\r\n"))],
);
const request = joined(method, " ", target, " ", version, lines, host, key, framed);

const garbled = fc
  .tuple(request, fc.nat(), fc.nat({ max: 8 }), rawBytes)
  .map(([whole, position, removed, inserted]) => {
    const at = position % (whole.length + 1);
    return whole.slice(0, at) + inserted + whole.slice(at + removed);
  });
const several = fc.array(request, { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
/** Anything that a client might send on one connection, one UTF-16 unit a byte. */
const burst = choose([6, several], [3, garbled], [1, rawBytes]);
