import { PET } from "../pet.js";
import {
  AUTH,
  badRequest,
  closing,
  created,
  error,
  head,
  list,
  own,
  post,
  refusedByNode,
  rows,
  type ConformanceCase,
} from "./case.js";

const host = "Host: pets.test\r\n";
const EXPECT = "Expect: 100-continue";

const get = (lines: string): string => `GET /v1/pets HTTP/1.1\r\n${lines}\r\n`;
const withCredentials = (value: string): string => get(`${host}Authorization: ${value}\r\n`);
const CHALLENGE = 'Bearer realm="petstore"';
const missing = error(401, "missing_api_key", { "www-authenticate": CHALLENGE });
const invalid = error(401, "invalid_api_key", {
  "www-authenticate": `${CHALLENGE}, error="invalid_token"`,
});
const notJson = error(415, "unsupported_media_type", { accept: "application/json" });
const tooLarge = { ...error(413, "payload_too_large"), closes: true };
const headersTooLarge = own(closing(431, "headers_too_large"));

/** Header fields: their syntax, Host, Authorization, media types, expectations, connections. */
export const headerCases: readonly ConformanceCase[] = [
  ...rows("RFC 9112, 3.2", refusedByNode, [
    ["no Host", get(AUTH)],
    ["no Host elsewhere", "GET /x HTTP/1.1\r\n\r\n"],
  ]),
  ...rows("RFC 9112, 3.2", badRequest, [
    ["two Hosts", get(`${host}${host}${AUTH}`)],
    ["two different Hosts", get(`${host}Host: evil\r\n${AUTH}`)],
  ]),
  ...rows(
    "RFC 9112, 3.2; RFC 3986, 3.2.2",
    badRequest,
    ["a/b", "u@a", "a b", "a:x", "[::1"].map((value) => [
      `a Host of ${value}`,
      get(`Host: ${value}\r\n${AUTH}`),
    ]),
  ),
  ...rows(
    "RFC 9110, 7.2",
    list,
    ["", "a:1", "[::FFFF:127.0.0.1]:80", "A.TEST", "a:"].map((value) => [
      `a Host of ${JSON.stringify(value)} is one`,
      get(`Host: ${value}\r\n${AUTH}`),
    ]),
  ),
  ...rows("RFC 9112, 5; RFC 9110, 5.5", refusedByNode, [
    ["a header with a space before the colon", head("GET /v1/pets", "X : a")],
    ["a header without a colon", head("GET /v1/pets", "X")],
    ["a header with NUL in its value", head("GET /v1/pets", "X: a\0b")],
    ["a folded header", head("GET /v1/pets", "X: a\r\n b")],
    ["a header with a bare carriage return", head("GET /v1/pets", "X: a\rY: b")],
  ]),
  ...rows("RFC 9112, 5; RFC 9110, 5.5", list, [
    ["values beyond ASCII, or empty", head("GET /v1/pets", "X: \xff", "Y:")],
    [
      "values that are names of headers",
      head("GET /v1/pets", "X-Asked: host", "X-More: authorization", "X-Last: x"),
    ],
  ]),
  ...rows("RFC 6585, 5", headersTooLarge, [
    ["a header of 20,000 bytes", head("GET /v1/pets", `X: ${"a".repeat(20_000)}`)],
    ["a header name of 20,000 bytes", head("GET /v1/pets", `${"a".repeat(20_000)}: x`)],
    // On a host's server, Node 24.21 and newer refuse them: test/mount.test.ts.
    ["3,000 headers", head("GET /v1/pets", ...Array<string>(3_000).fill("a:"))],
  ]),

  ...rows("specification, Authentication, 3", missing, [
    ["no key", get(host)],
    ["no key, at an unknown path: 401 comes first", `GET /v1/dogs HTTP/1.1\r\n${host}\r\n`],
  ]),
  ...rows(
    "specification, Authentication, 3; RFC 6750, 3.1",
    missing,
    ["", "Basic cGV0OnBldA==", "Bearer", "Bearer ", "{key}"].map((value) => [
      `Authorization: ${value} holds no key`,
      withCredentials(value),
    ]),
  ),
  ...rows(
    "specification, Authentication, 3; RFC 6750, 3.1",
    invalid,
    ["Bearer nonsense", "Bearer {key}x", "Bearer {key} {key}", 'Bearer "{key}"'].map((value) => [
      `Authorization: ${value} is no key`,
      withCredentials(value),
    ]),
  ),
  ...rows("RFC 9110, 11.6.2", invalid, [
    ["two keys", get(host + AUTH + AUTH)],
    ["a key and another scheme", get(`${host}${AUTH}Authorization: Basic eA==\r\n`)],
  ]),
  ...rows(
    "RFC 9110, 11.1",
    list,
    ["bearer", "BEARER", "Bearer "].map((scheme) => [
      `the scheme ${JSON.stringify(scheme)}`,
      get(`${host}aUTHORIZATION: ${scheme} {key}\r\n`),
    ]),
  ),

  ...rows("RFC 9110, 8.3", created, [["no Content-Type", post(PET)]]),
  ...rows(
    "specification, Endpoints; RFC 9110, 8.3.1",
    created,
    [
      "application/json",
      "APPLICATION/JSON",
      "application/json ; profile=x; charset=Utf-8",
      `application/json; profile=${"x".repeat(200)}`,
    ].map((type) => [`Content-Type: ${type}`, post(PET, `Content-Type: ${type}`)]),
  ),
  ...rows(
    "RFC 9110, 15.5.16",
    notJson,
    [
      "text/plain",
      "application/json5",
      "json",
      "",
      "application/json; charset=utf-16",
      "application/json, text/plain",
      `application/json;${" ".repeat(300)}charset=utf-8`,
    ].map((type) => [`Content-Type: ${JSON.stringify(type)}`, post(PET, `Content-Type: ${type}`)]),
  ),
  ...rows("RFC 9110, 5.3", notJson, [
    [
      "two Content-Type lines",
      post(PET, "Content-Type: application/json", "Content-Type: text/plain"),
    ],
  ]),
  ...rows(
    "RFC 9110, 8.4",
    error(415, "unsupported_media_type", { "accept-encoding": "identity" }),
    ["gzip", "identity, gzip"].map((coding) => [
      `Content-Encoding: ${coding}`,
      post(PET, `Content-Encoding: ${coding}`),
    ]),
  ),
  ...rows(
    "RFC 9110, 8.4.1",
    created,
    ["Identity", ""].map((coding) => [
      `Content-Encoding: ${JSON.stringify(coding)}`,
      post(PET, `Content-Encoding: ${coding}`),
    ]),
  ),
  ...rows("docs/http.md, The order of checks", tooLarge, [
    [
      "a wrong media type and too long a body: the length comes first",
      head("POST /v1/pets", "Content-Type: text/plain", "Content-Length: 65537"),
    ],
  ]),

  ...rows("RFC 9110, 10.1.1", { responses: [{ status: 100 }, { status: 201 }] }, [
    ["Expect: 100-continue, and all is right", post(PET, EXPECT)],
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
    rows("RFC 9110, 10.1.1", own(closing(status, code)), [
      [`Expect: 100-continue ${what}`, head(line, more, EXPECT)],
    ]),
  ),
  ...rows("RFC 9110, 15.5.18", own(closing(417, "expectation_failed")), [
    ["an unknown expectation", head("GET /v1/pets", "Expect: cake")],
    ["an unknown expectation elsewhere", head("GET /", "Expect: cake")],
    ["two expectations", head("POST /v1/pets", "Content-Length: 1", `${EXPECT}, cake`)],
    ["100-continue last", head("POST /v1/pets", "Content-Length: 1", "Expect: cake, 100-continue")],
  ]),

  ...rows(
    "RFC 9112, 9.6",
    { responses: [{ status: 200, headers: { connection: "close" } }], closes: true },
    [["Connection: close", head("GET /v1/pets", "Connection: close")]],
  ),
  ...rows("RFC 9112, 9.6", own({ responses: [{ status: 200 }], closes: true }), [
    ["Connection: close, and more", head("GET /v1/pets", "Connection: close") + head("GET /v1")],
  ]),
  ...rows(
    "RFC 9110, 7.8",
    { responses: [{ status: 200, headers: { connection: "close" } }], closes: true },
    [
      [
        "Upgrade to a WebSocket is ignored",
        head("GET /v1/pets", "Connection: Upgrade", "Upgrade: websocket"),
      ],
    ],
  ),
  ...rows("RFC 9110, 7.8", { ...created, closes: true }, [
    [
      "Upgrade to h2c is ignored",
      post(PET, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"),
    ],
  ]),
  ...rows("RFC 9110, 9.1, 12.5.1, 13.1 and 14.2", list, [
    [
      "a method override, a range, another media type and a condition are ignored",
      head(
        "GET /v1/pets",
        ...["X-HTTP-Method-Override: DELETE", "Range: bytes=0-1"],
        ...["Accept: text/html", "If-None-Match: *"],
      ),
    ],
  ]),
];
