import { PET } from "../pet.js";
import {
  AUTH,
  badRequest,
  closing,
  created,
  error,
  get,
  head,
  list,
  own,
  post,
  postHead,
  refusedByNode,
  rows,
  type Row,
} from "./case.js";

const HOST = "Host: pets.test\r\n";
const EXPECT = "Expect: 100-continue";
/** A request with these lines alone. */
const bare = (lines: string): string => `GET /v1/pets HTTP/1.1\r\n${lines}\r\n`;
const authorized = (value: string): string => bare(`${HOST}aUTHORIZATION: ${value}\r\n`);
const hosted = (host: string): string => bare(`Host: ${host}\r\n${AUTH}`);
const CHALLENGE = 'Bearer realm="petstore"';

/** Returns rows of POSTs that differ in the value of one header. */
const posts = (source: string, header: string, values: readonly string[]): readonly Row[] =>
  values.map((value) => [source, `${header}: "${value}"`, post(PET, `${header}: ${value}`)]);

/** Headers: their syntax, Host, Authorization, media types, expectations, connections. */
export const headerCases = [
  ...rows(badRequest, [
    ["RFC 9112, 3.2", "two Hosts", bare(`${HOST}${HOST}${AUTH}`)],
    ...["a/b", "u@a", "a b", "a:x", "[::1"].map((host): Row => [
      "RFC 3986, 3.2.2",
      `a Host of ${host}`,
      hosted(host),
    ]),
  ]),
  ...rows(list, [
    ...["", "a:1", "[::FFFF:127.0.0.1]:80", "A.TEST", "a:"].map((host): Row => [
      "RFC 9110, 7.2",
      `a Host of "${host}" is one`,
      hosted(host),
    ]),
    ["RFC 9110, 5.5", "values beyond ASCII, or empty", get("X: \xff", "Y:")],
    ["RFC 9112, 5", "values that are names of headers", get("X: host", "Y: authorization", "Z: z")],
    ...["bEARER", "Bearer "].map((scheme): Row => [
      "RFC 9110, 11.1",
      `the scheme "${scheme}"`,
      authorized(`${scheme} {key}`),
    ]),
  ]),
  ...rows(refusedByNode, [
    ["RFC 9112, 3.2", "no Host", bare(AUTH)],
    ["RFC 9112, 5", "a header with a space before the colon", get("X : a")],
    ["RFC 9110, 5.5", "a header with NUL in its value", get("X: a\0b")],
    ["RFC 9112, 5.2", "a folded header", get("X: a\r\n b")],
    ["RFC 9110, 5.5", "a header with a bare carriage return", get("X: a\rY: b")],
  ]),
  ...rows(own(closing(431, "headers_too_large")), [
    ["RFC 6585, 5", "a header of 20,000 bytes", get(`X: ${"a".repeat(20_000)}`)],
    // On a host's server, Node 24.21 and newer refuse them: test/mount.test.ts.
    ["RFC 6585, 5", "3,000 headers", get(...Array<string>(3_000).fill("a:"))],
  ]),

  ...rows(error(401, "missing_api_key", { "www-authenticate": CHALLENGE }), [
    ["specification, Authentication, 3", "no key", bare(HOST)],
    ...["Basic cGV0OnBldA==", "Bearer", "{key}"].map((value): Row => [
      "RFC 6750, 3.1",
      `"${value}" holds no key`,
      authorized(value),
    ]),
  ]),
  ...rows(
    error(401, "invalid_api_key", { "www-authenticate": `${CHALLENGE}, error="invalid_token"` }),
    [
      ...["Bearer nonsense", "Bearer {key}x", "Bearer {key} {key}"].map((value): Row => [
        "specification, Authentication, 3",
        `"${value}" is wrong`,
        authorized(value),
      ]),
      ["RFC 9110, 11.6.2", "a key and another scheme", get("Authorization: Basic eA==")],
    ],
  ),

  ...rows(created, [
    ["RFC 9110, 8.3", "no Content-Type", post(PET)],
    ...posts("specification, Endpoints; RFC 9110, 8.3.1", "Content-Type", [
      "application/json",
      "APPLICATION/JSON ; profile=x; charset=Utf-8",
      `application/json; profile=${"x".repeat(200)}`,
    ]),
    ...posts("RFC 9110, 8.4.1", "Content-Encoding", ["Identity", ""]),
  ]),
  ...rows(error(415, "unsupported_media_type", { accept: "application/json" }), [
    ...posts("RFC 9110, 15.5.16", "Content-Type", [
      ...["text/plain", "application/json5", "json", "", "application/json; charset=utf-16"],
      `application/json;${" ".repeat(300)}charset=utf-8`,
    ]),
    [
      "RFC 9110, 5.3",
      "two Content-Type lines",
      post(PET, "Content-Type: application/json", "Content-Type: text/plain"),
    ],
  ]),
  ...rows(
    error(415, "unsupported_media_type", { "accept-encoding": "identity" }),
    posts("RFC 9110, 8.4", "Content-Encoding", ["gzip", "identity, gzip"]),
  ),
  ...rows({ ...error(413, "payload_too_large"), closes: true }, [
    [
      "docs/http.md, The order of checks",
      "too long a body of a wrong media type",
      postHead("Content-Type: text/plain", "Content-Length: 65537"),
    ],
  ]),

  ...rows({ responses: [{ status: 100 }, { status: 201 }] }, [
    ["RFC 9110, 10.1.1", "Expect: 100-continue, and all is right", post(PET, EXPECT)],
  ]),
  ...(
    [
      ["with too long a body", "POST /v1/pets", "Content-Length: 65537", 413, "payload_too_large"],
      ["at an unknown path", "POST /v1/dogs", "Content-Length: 1", 404, "not_found"],
      ["elsewhere", "POST /x", "Content-Length: 1", 404, "not_found"],
      ["with a wrong method", "PUT /v1/pets", "Content-Length: 1", 405, "method_not_allowed"],
      ["and two Hosts", "POST /v1/pets", "Host: a", 400, "bad_request"],
      ["and two keys", "POST /v1/pets", `${AUTH}Content-Length: 1`, 401, "invalid_api_key"],
    ] as const
  ).flatMap(([what, line, more, status, code]) =>
    rows(own(closing(status, code)), [
      ["RFC 9110, 10.1.1", `Expect: 100-continue ${what}`, head(line, more, EXPECT)],
    ]),
  ),
  ...rows(own(closing(417, "expectation_failed")), [
    ["RFC 9110, 15.5.18", "an unknown expectation", get("Expect: cake")],
    ["RFC 9110, 15.5.18", "an unknown expectation elsewhere", head("GET /", "Expect: cake")],
    ["RFC 9110, 15.5.18", "100-continue first", get("Content-Length: 1", `${EXPECT}, cake`)],
    [
      "RFC 9110, 15.5.18",
      "100-continue last",
      get("Content-Length: 1", "Expect: cake, 100-continue"),
    ],
  ]),

  ...rows({ responses: [{ status: 200, headers: { connection: "close" } }], closes: true }, [
    ["RFC 9112, 9.6", "Connection: close", get("Connection: close")],
    ["RFC 9110, 7.8", "an upgrade is ignored", get("Connection: Upgrade", "Upgrade: websocket")],
  ]),
  ...rows(own({ responses: [{ status: 200 }], closes: true }), [
    ["RFC 9112, 9.6", "Connection: close, and more", get("Connection: close") + head("GET /v1")],
  ]),
  ...rows({ ...created, closes: true }, [
    [
      "RFC 9110, 7.8",
      "an upgrade to h2c is ignored",
      post(PET, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"),
    ],
  ]),
];
