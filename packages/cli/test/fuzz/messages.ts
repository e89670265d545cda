import fc from "fast-check";
import { createPetStore } from "@petstore/core";

/** The placeholder of a valid key. */
export const KEY = "{key}";
/** The placeholder of a pet's name, which is new each time it is sent. As long as the name. */
export const NAME = "{name:000000}";

export interface Message {
  /**
   * Of a whole request, there is exactly one response. A create is one that may store a pet called NAME, if it has
   * a valid key; no other message may.
   */
  readonly kind: "create" | "whole" | "broken";
  /** One UTF-16 unit a byte; holds KEY and NAME. */
  readonly bytes: string;
}

const some = <T>(...rows: readonly (readonly [weight: number, of: fc.Arbitrary<T>])[]) =>
  fc.oneof(...rows.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const pick = (...rows: readonly (readonly [weight: number, ...texts: string[]])[]) =>
  some(...rows.map(([weight, ...texts]) => [weight, fc.constantFrom(...texts)] as const));

const join = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((texts) => texts.join(""));

const lines = (methods: readonly string[], targets: readonly string[]): string[] =>
  methods.flatMap((method) => targets.map((target) => `${method} ${target}`));

const READ = ["GET", "GET", "HEAD"];
const WRONG = ["DELETE", "PUT", "PATCH", "POST", "OPTIONS", "TRACE", "PROPFIND"];
const STORE = ["/v1/pets", "/v1/pets?limit=3", "/v1/pets?limit=x", "/v1/pets/1", "/v1/pets/01"];
const DOCS = ["/docs", "/docs/page.css", "/", "/docs/", "/openapi.json"];
const HEALTH = ["/healthz", "/readyz"];

const known = pick(
  [10, ...lines(READ, STORE)],
  [3, ...lines(["GET", "POST", "DELETE"], ["/v1", "/v1/", "/v1/x", "/v1//pets", "/other"])],
  [2, ...lines(["DELETE", "PUT", "OPTIONS"], STORE)],
  [3, ...lines(READ, DOCS)],
  [4, ...lines(WRONG, DOCS)],
  [2, ...lines(["GET", "HEAD"], HEALTH)],
  [2, ...lines(WRONG, HEALTH)],
  [1, ...lines(["GET"], ["http://a/v1/pets", "*", "//v1/pets", "/v1/pets/1%00"])],
);
const line = some([9, known], [1, join(known, fc.stringMatching(/^[!-~]{0,20}$/))]);
const { keys } = createPetStore();
const issue = async () => (await keys.issue({ plan: "free" }))._unsafeUnwrap().secret;
const unknownKeys = await Promise.all(Array.from({ length: 500 }, issue));
const authorization = (text: string) => `Authorization: ${text}\r\n`;
const NAMES = ["Content-Type", "Content-Encoding", "Expect", "Accept", "Authorization", "X-A"];
const text = fc.stringMatching(/^[ -~\x80-\xff]{0,60}$/);

const header = join(
  pick(
    [4, authorization(`Bearer ${KEY}`)],
    [3, ...unknownKeys.map((key) => authorization(`Bearer ${key}`))],
    [2, ""],
    [1, ...["Bearer x", "Basic eDp5", "Bearer", ""].map(authorization)],
  ),
  pick(
    [56, ""],
    [4, "Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: x, close\r\n"],
    [1, "Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"],
  ),
  pick(
    [27, ""],
    [3, "Expect: 100-continue\r\n", "Expect: 100-Continue\r\n", "Expect: 200-maybe\r\n"],
  ),
  some([9, fc.constant("")], [1, join(pick([1, ...NAMES]), ": ", text, "\r\n")]),
);

/** The beginning of a message up to the lines of its body. */
const begin = (first: string | fc.Arbitrary<string>) =>
  join(first, pick([14, " HTTP/1.1\r\n"], [1, " HTTP/1.0\r\n"]), "Host: a\r\n", header);

const PET = `{"name":"${NAME}","categoryId":9007199254740993}`;
const json = fc.json().map((value) => Buffer.from(value).toString("latin1"));
const number = some([1, json], [1, fc.bigInt().map(String)], [1, fc.double().map(String)]);

const otherBody = some(
  [3, fc.constant(PET.slice(0, 27))],
  [3, pick([1, "{}", "[]", "x", `{"name":"","categoryId":"1"}`, "\xff\xfe", " "])],
  [1, pick([1, "9".repeat(70_000), "[".repeat(5_000), '"'.repeat(66_000)])],
  [2, join('{"name":', json, ',"categoryId":', number, ',"__proto__":', json, "}")],
  [2, join('{"name":"Rex","categoryId":', number, ',"status":', json, "}")],
  [1, json],
);

const contentType = pick(
  [4, "Content-Type: application/json\r\n"],
  [1, "", "Content-Type: text/plain\r\n", "Content-Encoding: gzip\r\n"],
);

type Frame = (body: string) => string;
const byLength = (body: string, length = body.length) => `Content-Length: ${length}\r\n\r\n${body}`;
const chunked = (body: string) => `Transfer-Encoding: chunked\r\n\r\n${body}`;
const chunk: Frame = (part) => (part === "" ? "" : `${part.length.toString(16)}\r\n${part}\r\n`);

const goodFraming = fc.constantFrom<Frame>(
  ...Array<Frame>(3).fill((body) => byLength(body)),
  (body) => chunked(`${chunk(body)}0\r\n\r\n`),
  (body) => chunked(`${chunk(body.slice(0, 9))}${chunk(body.slice(9))}0\r\nX: y\r\n\r\n`),
);

/** The body is not framed as its header section says. */
const badFraming = fc.constantFrom<Frame>(
  () => chunked("zz\r\n\r\n"),
  (body) => chunked(`${chunk(body)}zz\r\n\r\n`),
  (body) => chunked(`fffffffffffffffff\r\n${body}`),
  (body) => chunked(`${chunk(body)}0\r\nX y\r\n\r\n`),
  (body) => byLength(body, body.length + 7),
  (body) => byLength(body, Math.max(0, body.length - 7)),
  (body) => byLength(body, -1),
  (body) => `Content-Length: 5\r\n${chunked(`${chunk(body)}0\r\n\r\n`)}`,
  (body) => `Transfer-Encoding: gzip\r\n\r\n${body}`,
  (body) => `\r\n${body}`,
);

const framed = (start: fc.Arbitrary<string>, body: fc.Arbitrary<string>, frame = goodFraming) =>
  fc.tuple(start, body, frame).map(([head, text, inFrame]) => head + inFrame(text));

const AT_PETS = "POST /v1/pets";
const withoutBody = join(begin(line), "\r\n");
const create = framed(begin(AT_PETS), fc.constant(PET));
const misframed = framed(
  begin(fc.oneof(fc.constant(AT_PETS), line)),
  fc.oneof(fc.constant(PET), otherBody),
  badFraming,
);

const rawBytes = fc
  .uint8Array({ minLength: 1, maxLength: 60 })
  .map((bytes) => String.fromCharCode(...bytes));

const refusedByParser = fc.oneof(
  rawBytes,
  fc.constantFrom(
    "\r\n\r\n",
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${"z".repeat(17_000)}\r\n\r\n`,
    `GET /${"y".repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    "GET /v1/pets HTTP/1.1\r\n\r\n",
    "GET /v1/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /v1/pets HTTP/2.0\r\nHost: a\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET  /v1/pets\r\n\r\n",
    "NO /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/pets HTTP/1.1\r\nHost: a\r\nX y\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01",
  ),
);

const tunnel = join(
  pick([1, "CONNECT a:1", "CONNECT /v1/pets", "CONNECT /", "CONNECT x"]),
  " HTTP/1.1\r\nHost: a\r\n",
  pick([1, "\r\n", "\r\n", "Content-Length: 3\r\n\r\nabc", "\r\n\x16\x03\x01"]),
);

const inserted = fc.oneof(fc.constant(""), rawBytes);
const mutated = fc
  .tuple(fc.oneof(withoutBody, create), inserted, fc.nat(), fc.nat({ max: 8 }))
  .map(([bytes, added, position, removed]) => {
    const at = position % (bytes.length + 1);
    // It might be as good as before: then its pet may exist.
    return (bytes.slice(0, at) + added + bytes.slice(at + removed)).replaceAll(NAME, "mutated");
  });

const sent = (weight: number, kind: Message["kind"], bytes: fc.Arbitrary<string>) =>
  [weight, bytes.map((text): Message => ({ kind, bytes: text }))] as const;

/** Anything that a client might send in the place of a request. */
export const message = some(
  sent(12, "whole", withoutBody),
  sent(4, "whole", framed(join(begin(line), contentType), otherBody)),
  sent(8, "create", create),
  sent(3, "whole", framed(join(begin(AT_PETS), contentType), otherBody)),
  sent(3, "broken", misframed),
  sent(1, "broken", tunnel),
  sent(1, "broken", refusedByParser),
  sent(1, "broken", mutated),
);
