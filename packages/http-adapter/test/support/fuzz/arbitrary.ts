import fc from "fast-check";

/** The bytes that one connection sends, and how many requests they are meant to be. */
export interface Burst {
  /** One UTF-16 unit a byte. */
  readonly bytes: string;
  readonly requests: number;
}

const text = (maxLength: number) =>
  fc.stringMatching(new RegExp(`^[ -~\\x80-\\xff]{0,${maxLength}}$`));
const targetText = fc.stringMatching(/^[!-~]{0,20}$/);
const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const rawBytes = fc.array(byte, { maxLength: 60 }).map((bytes) => bytes.join(""));

const method = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("GET", "HEAD", "POST", "POST", "POST") },
  {
    weight: 3,
    arbitrary: fc.constantFrom("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z-]{1,8}$/) },
);

const query = fc.oneof(
  fc.constant(""),
  targetText.map((value) => `?${value}`),
  fc
    .array(fc.tuple(fc.constantFrom("limit", "status", "after", "x"), targetText), { maxLength: 4 })
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`),
  fc.constantFrom("?limit=5", "?status=sold", "?after=3", "?limit=0&status=x"),
);

const target = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          "/v1",
          "/v1/",
          "/v1/pets",
          "/v1/pets/",
          "/v1/pets/1",
          "http://a/v1/pets",
          "/",
        ),
        fc.oneof({ weight: 3, arbitrary: fc.constant("") }, { weight: 1, arbitrary: targetText }),
        query,
      )
      .map((parts) => parts.join("")),
  },
  { weight: 1, arbitrary: fc.constantFrom("*", "a:80", "//", "x", `/${"y".repeat(17_000)}`) },
  { weight: 1, arbitrary: rawBytes },
);

const version = fc.oneof(
  { weight: 20, arbitrary: fc.constant("HTTP/1.1") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "RTSP/1.0", ""),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[!-~]{1,9}$/) },
);

const header = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        "Content-Type",
        "Content-Encoding",
        "Expect",
        "Accept",
        "Authorization",
        "Cookie",
      ),
      text(30),
    )
    .map((pair) => pair.join(": ")),
  fc.constantFrom(
    "Content-Type: application/json",
    "Content-Type: application/json; charset=utf-8",
    "Expect: 100-continue",
    "Connection: keep-alive",
    "Connection: Upgrade\r\nUpgrade: websocket",
    "Host: again",
    "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked",
    "Content-Length: 3",
    "X-Forwarded-For: 192.0.2.1",
  ),
  fc.tuple(fc.stringMatching(/^X-[A-Za-z]{1,10}$/), text(60)).map((pair) => pair.join(": ")),
  fc.constantFrom(`X: ${"z".repeat(17_000)}`, ...["Connection: close"]),
  rawBytes,
);

const json = fc.json().map((value) => Buffer.from(value).toString("latin1"));
const pet = fc
  .record(
    {
      name: fc.oneof(json, fc.constant('"Rex"')),
      categoryId: fc.oneof(json, fc.bigInt().map(String), fc.double().map(String)),
      status: fc.oneof(json, fc.constantFrom('"sold"', '"gone"')),
      __proto__: json,
    },
    { requiredKeys: [] },
  )
  .map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join(",")}}`,
  );
const body = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: pet },
  { weight: 2, arbitrary: fc.constant('{"name":"Rex","categoryId":9007199254740993}') },
  { weight: 1, arbitrary: json },
  { weight: 1, arbitrary: rawBytes },
  {
    weight: 1,
    arbitrary: fc.constantFrom("[".repeat(5_000), '"'.repeat(66_000), "9".repeat(3_000)),
  },
);

const framing = fc.oneof(
  { weight: 8, arbitrary: fc.constant("length" as const) },
  { weight: 3, arbitrary: fc.constant("chunked" as const) },
  { weight: 1, arbitrary: fc.constantFrom("short", "long", "none", "broken") },
);

const request = fc
  .record({
    method,
    target,
    version,
    headers: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) },
    ),
    body,
    framing,
    key: fc.constantFrom("{key}", "{key}", "{key}", "nonsense", undefined),
    host: fc.constantFrom(
      "Host: a",
      "Host: a",
      "Host: a",
      "Host: a",
      "Host: a",
      "Host: a",
      "X: no",
    ),
  })
  .map(
    ({
      method: verb,
      target: where,
      version: spoken,
      headers,
      body: sent,
      framing: how,
      key,
      host,
    }) => {
      const [lines, bytes] = frame(how, sent);
      const authorization = key === undefined ? [] : [`Authorization: Bearer ${key}`];
      return [
        `${verb} ${where} ${spoken}`,
        host,
        ...authorization,
        ...lines,
        ...headers,
        `\r\n${bytes}`,
      ].join("\r\n");
    },
  );

function frame(how: string, body: string): readonly [lines: readonly string[], bytes: string] {
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  switch (how) {
    case "chunked":
      return [["Transfer-Encoding: chunked"], `${body === "" ? "" : chunk}0\r\n\r\n`];
    case "short":
      return [[`Content-Length: ${body.length + 10}`], body];
    case "long":
      return [[`Content-Length: ${Math.max(0, body.length - 10)}`], body];
    case "none":
      return [[], body];
    case "broken":
      return [["Transfer-Encoding: chunked"], `${chunk}zz`];
    default:
      return [body === "" ? [] : [`Content-Length: ${body.length}`], body];
  }
}

const pipeline = fc
  .array(request, { minLength: 1, maxLength: 6 })
  .map((requests) => ({ bytes: requests.join(""), requests: requests.length }));

const mutated = fc
  .tuple(request, fc.nat(), fc.nat({ max: 8 }), rawBytes)
  .map(([whole, position, removed, inserted]) => {
    const at = position % (whole.length + 1);
    return { bytes: whole.slice(0, at) + inserted + whole.slice(at + removed), requests: 1 };
  });

/** Anything that a client might send on one connection. */
export const burst: fc.Arbitrary<Burst> = fc.oneof(
  { weight: 6, arbitrary: pipeline },
  { weight: 3, arbitrary: mutated },
  { weight: 1, arbitrary: rawBytes.map((bytes) => ({ bytes, requests: 1 })) },
);
