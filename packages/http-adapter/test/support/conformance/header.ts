import { PET } from "../pet.js";
import { AUTH, badRequest, head, post, rows, type ConformanceCase } from "./case.js";

const refusedByNode = { ...badRequest, ownServerOnly: true } as const;
const list = { responses: [{ status: 200, body: /^\[.*\]$/s }] } as const;
const created = { responses: [{ status: 201 }] } as const;
const host = "Host: pets.test\r\n";

const get = (lines: string): string => `GET /v1/pets HTTP/1.1\r\n${lines}\r\n`;
const unauthorized = (code: string, challenge: string) =>
  ({ responses: [{ status: 401, code, headers: { "www-authenticate": challenge } }] }) as const;
const missing = unauthorized("missing_api_key", 'Bearer realm="petstore"');
const invalid = unauthorized("invalid_api_key", 'Bearer realm="petstore", error="invalid_token"');
const unsupported = (name: string, value: string) =>
  ({
    responses: [{ status: 415, code: "unsupported_media_type", headers: { [name]: value } }],
  }) as const;

/** Header fields: their syntax, Host, Authorization, media types, expectations, connections. */
export const headerCases: readonly ConformanceCase[] = [
  {
    name: "no Host",
    source: "RFC 9112, 3.2",
    request: get(AUTH),
    ...refusedByNode,
  },
  ...rows(badRequest, [
    ["two Hosts", "RFC 9112, 3.2", get(`${host}${host}${AUTH}`)],
    ["two different Hosts", "RFC 9112, 3.2", get(`${host}Host: evil\r\n${AUTH}`)],
  ]),
  ...["a/b", "u@a", "a b", "a:x", "[::1", "a?b", "a,b c", "http://a"].map((value) => ({
    name: `a Host of ${value}`,
    source: "RFC 9112, 3.2; RFC 3986, 3.2.2",
    request: get(`Host: ${value}\r\n${AUTH}`),
    ...badRequest,
  })),
  ...["", "a", "a:1", "[::1]:80", "A.TEST", "127.0.0.1:3000", "a:"].map((value) => ({
    name: `a Host of ${JSON.stringify(value)} is one`,
    source: "RFC 9110, 7.2",
    request: get(`Host: ${value}\r\n${AUTH}`),
    ...list,
  })),
  {
    name: "no Host elsewhere",
    source: "RFC 9112, 3.2",
    request: "GET /x HTTP/1.1\r\n\r\n",
    ...badRequest,
    ownServerOnly: true,
  },
  ...[
    ["a space before the colon", "X : a"],
    ["no colon", "X"],
    ["no name", ": a"],
    ["a name with a separator", "X@(: a"],
    ["a name beyond ASCII", "X\xe9: a"],
    ["NUL in a value", "X: a\0b"],
    ["a control character in a value", "X: a\x01b"],
    ["DEL in a value", "X: a\x7fb"],
    ["a folded line", "X: a\r\n b"],
    ["a bare line feed", "X: a\nY: b"],
    ["a bare carriage return", "X: a\rY: b"],
  ].map(([name, line]) => ({
    name: `a header with ${name ?? ""}`,
    source: "RFC 9112, 5; RFC 9110, 5.5",
    request: get(`${host}${AUTH}${line ?? ""}\r\n`),
    ...refusedByNode,
  })),
  {
    name: "a space before the first header",
    source: "RFC 9112, 2.2",
    request: `GET /v1/pets HTTP/1.1\r\n ${host}\r\n`,
    ...refusedByNode,
  },
  {
    name: "a header section cut short",
    source: "RFC 9112, 8",
    request: `GET /v1/pets HTTP/1.1\r\nHost: a`,
    ends: true,
    ...refusedByNode,
  },
  ...rows(list, [
    ["an obs-text value", "RFC 9110, 5.5", head("GET /v1/pets", "X: \xff")],
    ["an empty value", "RFC 9110, 5.5", head("GET /v1/pets", "X:")],
    [
      "values that are names of headers",
      "RFC 9112, 5",
      head("GET /v1/pets", "X-Asked: host", "X-More: authorization", "X-Last: x"),
    ],
  ]),
  {
    name: "a header of 20,000 bytes",
    source: "RFC 6585, 5",
    request: head("GET /v1/pets", `X: ${"a".repeat(20_000)}`),
    responses: [{ status: 431, code: "headers_too_large", headers: { connection: "close" } }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a header name of 20,000 bytes",
    source: "RFC 6585, 5",
    request: head("GET /v1/pets", `${"a".repeat(20_000)}: x`),
    responses: [{ status: 431, code: "headers_too_large" }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "3,000 headers",
    source: "RFC 6585, 5",
    request: head("GET /v1/pets", ...Array.from({ length: 3_000 }, () => "a:")),
    responses: [{ status: 431, code: "headers_too_large", headers: { connection: "close" } }],
    closes: true,
    // On a host's server, Node 24.21 and newer refuse them: test/mount.test.ts.
    ownServerOnly: true,
  },
  {
    name: "100 headers",
    source: "RFC 9110, 5.4",
    request: head("GET /v1/pets", ...Array.from({ length: 100 }, () => "a: b")),
    ...list,
  },

  {
    name: "no key",
    source: "specification, Authentication, 3",
    request: get(host),
    ...missing,
  },
  ...["", "Basic cGV0OnBldA==", "Bearer", "Bearer ", "{key}", "Digest x"].map((value) => ({
    name: `Authorization: ${value} holds no key`,
    source: "specification, Authentication, 3; RFC 6750, 3.1",
    request: get(`${host}Authorization: ${value}\r\n`),
    ...missing,
  })),
  ...[
    "Bearer nonsense",
    "Bearer {key}x",
    "Bearer {key} {key}",
    'Bearer "{key}"',
    "Bearer pet_live_",
    "Bearer \xff",
  ].map((value) => ({
    name: `Authorization: ${value} is no key`,
    source: "specification, Authentication, 3; RFC 6750, 3.1",
    request: get(`${host}Authorization: ${value}\r\n`),
    ...invalid,
  })),
  ...[
    ["two keys", AUTH + AUTH],
    ["a key and another scheme", `${AUTH}Authorization: Basic eA==\r\n`],
  ].map(([name = "", lines = ""]) => ({
    name,
    source: "RFC 9110, 11.6.2",
    request: get(host + lines),
    ...invalid,
  })),
  ...["bearer", "BEARER", "Bearer "].map((scheme) => ({
    name: `the scheme ${JSON.stringify(scheme)}`,
    source: "RFC 9110, 11.1",
    request: get(`${host}aUTHORIZATION: ${scheme} {key}\r\n`),
    ...list,
  })),
  {
    name: "no key, at an unknown path: 401 comes first",
    source: "design, Order of checks",
    request: `GET /v1/dogs HTTP/1.1\r\n${host}\r\n`,
    ...missing,
  },

  ...[
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json ; profile=x; charset=Utf-8",
    `application/json; profile=${"x".repeat(200)}`,
  ].map((type) => ({
    name: `Content-Type: ${type}`,
    source: "specification, Endpoints; RFC 9110, 8.3.1",
    request: post(PET, `Content-Type: ${type}`),
    ...created,
  })),
  {
    name: "no Content-Type",
    source: "RFC 9110, 8.3",
    request: post(PET),
    ...created,
  },
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/problem+json",
    "json",
    "",
    "application/json; charset=utf-16",
    "application/json, text/plain",
    "*/*",
    "multipart/form-data; boundary=x",
    "application/json5",
    `application/json;${" ".repeat(300)}charset=utf-8`,
  ].map((type) => ({
    name: `Content-Type: ${JSON.stringify(type)}`,
    source: "RFC 9110, 15.5.16",
    request: post(PET, `Content-Type: ${type}`),
    ...unsupported("accept", "application/json"),
  })),
  ...["gzip", "br", "deflate", "identity, gzip", "x"].map((coding) => ({
    name: `Content-Encoding: ${coding}`,
    source: "RFC 9110, 8.4",
    request: post(PET, `Content-Encoding: ${coding}`),
    ...unsupported("accept-encoding", "identity"),
  })),
  ...["identity", "Identity", ""].map((coding) => ({
    name: `Content-Encoding: ${JSON.stringify(coding)}`,
    source: "RFC 9110, 8.4.1",
    request: post(PET, `Content-Encoding: ${coding}`),
    ...created,
  })),
  {
    name: "two Content-Type lines",
    source: "RFC 9110, 5.3",
    request: post(PET, "Content-Type: application/json", "Content-Type: text/plain"),
    ...unsupported("accept", "application/json"),
  },
  {
    name: "a wrong media type and too long a body: the length comes first",
    source: "design, Order of checks",
    request: head("POST /v1/pets", "Content-Type: text/plain", "Content-Length: 65537"),
    responses: [{ status: 413, code: "payload_too_large" }],
    closes: true,
  },

  {
    name: "Expect: 100-continue, and all is right",
    source: "RFC 9110, 10.1.1",
    request: post(PET, "Expect: 100-continue"),
    responses: [{ status: 100 }, { status: 201 }],
  },
  {
    name: "Expect: 100-continue without a key",
    source: "RFC 9110, 10.1.1",
    request: `POST /v1/pets HTTP/1.1\r\n${host}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`,
    responses: [{ status: 401, code: "missing_api_key", headers: { connection: "close" } }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "Expect: 100-continue with too long a body",
    source: "RFC 9110, 10.1.1",
    request: head("POST /v1/pets", "Content-Length: 65537", "Expect: 100-continue"),
    responses: [{ status: 413, code: "payload_too_large" }],
    closes: true,
    ownServerOnly: true,
  },
  ...(
    [
      ["at an unknown path", "POST /v1/dogs", "X: a", 404, "not_found"],
      ["elsewhere", "POST /x", "X: a", 404, "not_found"],
      ["with a wrong method", "PUT /v1/pets", "X: a", 405, "method_not_allowed"],
      ["with another type", "POST /v1/pets", "Content-Type: a/b", 415, "unsupported_media_type"],
      ["and two Hosts", "POST /v1/pets", "Host: a", 400, "bad_request"],
    ] as const
  ).map(([what, line, more, status, code]) => ({
    name: `Expect: 100-continue ${what}`,
    source: "RFC 9110, 10.1.1",
    request: head(line, "Content-Length: 10", "Expect: 100-continue", more),
    responses: [{ status, code, headers: { connection: "close" } }],
    closes: true,
    ownServerOnly: true,
  })),
  {
    name: "an unknown expectation",
    source: "RFC 9110, 15.5.18",
    request: head("GET /v1/pets", "Expect: cake"),
    responses: [{ status: 417, code: "expectation_failed" }],
    ownServerOnly: true,
  },
  ...["cake", "100-continue, cake", "cake, 100-continue"].map((value) => ({
    name: `the expectation ${value}, and a body`,
    source: "RFC 9110, 15.5.18",
    request: head("POST /v1/pets", "Content-Length: 10", `Expect: ${value}`),
    responses: [{ status: 417, code: "expectation_failed", headers: { connection: "close" } }],
    closes: true,
    ownServerOnly: true,
  })),
  {
    name: "an unknown expectation elsewhere",
    source: "RFC 9110, 15.5.18",
    request: head("GET /", "Expect: cake"),
    responses: [{ status: 417, code: "expectation_failed" }],
    closes: true,
    ownServerOnly: true,
  },

  {
    name: "Connection: close",
    source: "RFC 9112, 9.6",
    request: head("GET /v1/pets", "Connection: close"),
    responses: [{ status: 200, headers: { connection: "close" } }],
    closes: true,
  },
  {
    name: "Connection: close, and more",
    source: "RFC 9112, 9.6",
    request: head("GET /v1/pets", "Connection: close") + head("GET /v1/pets"),
    responses: [{ status: 200 }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "Upgrade to a WebSocket is ignored",
    source: "RFC 9110, 7.8",
    request: head("GET /v1/pets", "Connection: Upgrade", "Upgrade: websocket"),
    responses: [{ status: 200, headers: { connection: "close" } }],
    closes: true,
  },
  {
    name: "Upgrade to h2c is ignored",
    source: "RFC 9110, 7.8",
    request: post(
      PET,
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABk",
    ),
    responses: [{ status: 201 }],
    closes: true,
  },
  {
    name: "X-HTTP-Method-Override is ignored",
    source: "RFC 9110, 9.1",
    request: head("GET /v1/pets", "X-HTTP-Method-Override: DELETE"),
    ...list,
  },
  ...rows(list, [
    ["Range is ignored", "RFC 9110, 14.2", head("GET /v1/pets", "Range: bytes=0-1")],
    [
      "Accept of something else is ignored",
      "RFC 9110, 12.5.1",
      head("GET /v1/pets", "Accept: text/html"),
    ],
    ["a condition is ignored", "RFC 9110, 13.1", head("GET /v1/pets", "If-None-Match: *")],
  ]),
];
