import { connect } from "node:net";
import fc, { type Arbitrary } from "fast-check";

/** The bytes that one connection sends, one UTF-16 unit a byte, and how many requests they are meant to be. */
export interface Burst {
  readonly bytes: string;
  readonly requests: number;
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

const joined = (...parts: readonly Arbitrary<string>[]): Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(""));

const just = (text: string): Arbitrary<string> => fc.constant(text);

const text = fc.stringMatching(/^[ -~\x80-\xff]{0,60}$/);
const visible = fc.stringMatching(/^[!-~]{0,20}$/);
const rawBytes = fc
  .uint8Array({ maxLength: 60 })
  .map((bytes) => Buffer.from(bytes).toString("latin1"));

const method = choose(
  [8, ["GET", "HEAD", "POST", "POST", "POST"]],
  [3, ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]],
  [1, fc.stringMatching(/^[A-Za-z-]{1,8}$/)],
);

const parameter = joined(fc.constantFrom("limit=", "status=", "after=", "x="), visible);
const query = choose(
  [1, ["", "?limit=5", "?status=sold", "?after=3", "?limit=0&status=x"]],
  [1, joined(just("?"), visible)],
  [1, fc.array(parameter, { maxLength: 4 }).map((pairs) => `?${pairs.join("&")}`)],
);
const paths = ["/v1", "/v1/", "/v1/pets", "/v1/pets/", "/v1/pets/1", "http://a/v1/pets", "/"];
const target = choose(
  [9, joined(fc.constantFrom(...paths), choose([3, [""]], [1, visible]), query)],
  [1, ["*", "a:80", "//", "x", `/${"y".repeat(17_000)}`]],
  [1, rawBytes],
);

const version = choose(
  [20, ["HTTP/1.1"]],
  [1, ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "RTSP/1.0", ""]],
  [1, fc.stringMatching(/^[!-~]{1,9}$/)],
);

const names = ["Content-Type", "Content-Encoding", "Expect", "Accept", "Authorization", "Cookie"];
const header = choose(
  [1, joined(fc.constantFrom(...names, "X-A", "X-b"), just(": "), text)],
  [
    1,
    ["Content-Type: application/json", "Expect: 100-continue", "Content-Length: 3", "Host: again"],
  ],
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
  .map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join()}}`,
  );
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
const framed = fc.oneof(
  { weight: 8, arbitrary: body.map((all) => `${LENGTH}${all.length}\r\n\r\n${all}`) },
  { weight: 3, arbitrary: body.map((all) => `${CHUNKED}${all && chunk(all)}0\r\n\r\n`) },
  {
    weight: 1,
    arbitrary: fc.tuple(body, fc.nat({ max: 3 })).map(([all, mistake]) => {
      const tooLong = `${LENGTH}${all.length + 10}\r\n\r\n${all}`;
      const tooShort = `${LENGTH}${Math.max(0, all.length - 10)}\r\n\r\n${all}`;
      return [tooLong, tooShort, `\r\n${all}`, `${CHUNKED}${chunk(all)}zz`][mistake] ?? "";
    }),
  },
);

const key = fc.constantFrom(
  ...Array<string>(3).fill("Authorization: Bearer {key}\r\n"),
  ...["Authorization: Bearer nonsense\r\n", ""],
);
const host = choose([6, ["Host: a\r\n"]], [1, [""]]);
const lines = choose(
  [2, ["\r\n"]],
  [1, fc.array(header, { maxLength: 3 }).map((all) => ["", ...all, ""].join("\r\n"))],
);
const space = just(" ");
const request = joined(method, space, target, space, version, lines, host, key, framed);

/** Anything that a client might send on one connection. */
export const burst: Arbitrary<Burst> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(request, { minLength: 1, maxLength: 6 })
      .map((all) => ({ bytes: all.join(""), requests: all.length })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(request, fc.nat(), fc.nat({ max: 8 }), rawBytes)
      .map(([whole, position, removed, inserted]) => {
        const at = position % (whole.length + 1);
        return { bytes: whole.slice(0, at) + inserted + whole.slice(at + removed), requests: 1 };
      }),
  },
  { weight: 1, arbitrary: rawBytes.map((bytes) => ({ bytes, requests: 1 })) },
);

/** Sends these bytes, closes this side, and resolves to all that came back. */
export function sendBurst(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setEncoding("latin1");
    socket.on("data", (more: string) => (received += more));
    socket.on("end", () => socket.end());
    // A server may reset the connection after the response; the bytes before the reset count.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
    socket.end(Buffer.from(bytes, "latin1"));
  });
}

/** A final response among the bytes of a connection. */
export interface RawResponse {
  readonly status: number;
  /** The header section, in lower case. */
  readonly head: string;
  /** As long as declared; `undefined` if there is none, as for HEAD. */
  readonly body: string | undefined;
}

/** Splits the bytes of a connection into responses. Throws if one is incomplete. */
export function readResponses(received: string): readonly RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = received;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(rest)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`No response: ${JSON.stringify(rest)}`);
    const head = rest.slice(0, end).toLowerCase();
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1]);
    // No JSON text begins like a status line: that is the next response, and this was one to HEAD.
    const hasBody = rest !== "" && !rest.startsWith("HTTP/1.1 ");
    if (hasBody && rest.length < length) throw new Error(`Cut short: ${JSON.stringify(rest)}`);
    responses.push({ status, head, body: hasBody ? rest.slice(0, length) : undefined });
    if (hasBody) rest = rest.slice(length);
  }
  return responses;
}
