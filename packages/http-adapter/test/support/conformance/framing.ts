import { PET } from "../pet.js";
import {
  badRequest,
  chunked,
  head,
  PET_CHUNKED,
  post,
  rows,
  type ConformanceCase,
} from "./case.js";

const refusedByNode = { ...badRequest, ownServerOnly: true } as const;
const created = { responses: [{ status: 201 }] } as const;
const tooLarge = {
  responses: [{ status: 413, code: "payload_too_large", headers: { connection: "close" } }],
  closes: true,
} as const;

/** Cases of the end of a body, and the bytes after it. */
export const framingCases: readonly ConformanceCase[] = [
  ...[
    "-1",
    "+1",
    "0x1",
    "",
    "1 1",
    "1, 1",
    "1,1",
    "1.0",
    "abc",
    "\xb9",
    "99999999999999999999999",
  ].map((value) => ({
    name: `Content-Length: ${JSON.stringify(value)}`,
    source: "RFC 9112, 6.3; RFC 9110, 8.6",
    request: head("POST /v1/pets", `Content-Length: ${value}`) + "x",
    ...refusedByNode,
  })),
  ...rows(refusedByNode, [
    ["the same Content-Length twice", "RFC 9112, 6.3", post(PET, "Content-Length: 29")],
    ["two Content-Lengths", "RFC 9112, 6.3", post(PET, "Content-Length: 5")],
    [
      "Content-Length, then Transfer-Encoding",
      "RFC 9112, 6.1",
      head("POST /v1/pets", "Content-Length: 5", "Transfer-Encoding: chunked") + PET_CHUNKED,
    ],
    [
      "Transfer-Encoding, then Content-Length",
      "RFC 9112, 6.1",
      chunked(PET_CHUNKED, "Content-Length: 5"),
    ],
  ]),
  ...["chunked, chunked", "chunked, identity", "\x0bchunked"].map((value) => ({
    name: `Transfer-Encoding: ${JSON.stringify(value)}`,
    source: "RFC 9112, 6.1",
    request: head("POST /v1/pets", `Transfer-Encoding: ${value}`) + PET_CHUNKED,
    ...refusedByNode,
  })),
  ...["gzip", "gzip, chunked", "identity", "xchunked", "chunked;q=1", ""].map((value) => ({
    name: `Transfer-Encoding: ${JSON.stringify(value)}, which Node lets through`,
    source: "RFC 9112, 6.1",
    request: head("POST /v1/pets", `Transfer-Encoding: ${value}`) + PET_CHUNKED,
    ...refusedByNode,
  })),
  {
    name: "two Transfer-Encoding lines",
    source: "RFC 9112, 6.1",
    request: chunked(PET_CHUNKED, "Transfer-Encoding: chunked"),
    ...refusedByNode,
  },
  {
    name: "Transfer-Encoding: CHUNKED",
    source: "RFC 9112, 7",
    request: head("POST /v1/pets", "Transfer-Encoding: CHUNKED") + PET_CHUNKED,
    ...created,
  },
  {
    name: "Transfer-Encoding in HTTP/1.0",
    source: "RFC 9112, 6.1",
    request: `POST /v1/pets HTTP/1.0\r\nAuthorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n${PET_CHUNKED}`,
    ...badRequest,
  },

  ...rows(created, [
    ["a chunked body", "RFC 9112, 7.1", chunked(PET_CHUNKED)],
    ["a chunk extension", "RFC 9112, 7.1.1", chunked(PET_CHUNKED.replace("1d", "1d;a=b;c"))],
    ["a trailer", "RFC 9112, 7.1.2", chunked(PET_CHUNKED.replace("0\r\n", "0\r\nX: y\r\n"))],
    [
      "chunks of one byte",
      "RFC 9112, 7.1",
      chunked(PET.replace(/./g, "1\r\n$&\r\n") + "0\r\n\r\n"),
    ],
    [
      "a chunk size with zeros before it",
      "RFC 9112, 7.1",
      chunked(PET_CHUNKED.replace("1d", "0001D")),
    ],
  ]),
  ...[
    ["no size", "zz\r\n"],
    ["a negative size", "-1\r\n"],
    ["a hexadecimal prefix", "0x1d\r\n"],
    ["an endless size", "fffffffffffffffff\r\n"],
    ["a space after its size", "1d \r\n"],
    ["a line feed alone after its size", "1d\n"],
    ["an empty size", "\r\n"],
    ["more bytes than its size", "2\r\nhix\r\n"],
  ].map(([name, bytes]) => ({
    name: `a chunk with ${name ?? ""}`,
    source: "RFC 9112, 7.1",
    request: chunked(bytes ?? ""),
    ...refusedByNode,
  })),
  {
    name: "a chunk extension of 20,000 bytes",
    source: "RFC 9112, 7.1.1",
    request: chunked(`1;${"a".repeat(20_000)}\r\nx\r\n`),
    ...tooLarge,
    ownServerOnly: true,
  },
  {
    name: "a trailer without a colon",
    source: "RFC 9112, 7.1.2",
    request: chunked("2\r\n{}\r\n0\r\nX y\r\n\r\n"),
    ...refusedByNode,
  },
  {
    name: "a trailer of 20,000 bytes",
    source: "RFC 6585, 5",
    request: chunked(`2\r\n{}\r\n0\r\nX: ${"y".repeat(20_000)}\r\n\r\n`),
    responses: [{ status: 431, code: "headers_too_large", headers: { connection: "close" } }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a body that ends early",
    source: "RFC 9112, 8",
    request: head("POST /v1/pets", "Content-Length: 100") + PET,
    ends: true,
    ...refusedByNode,
  },
  {
    name: "a chunked body that ends early",
    source: "RFC 9112, 8",
    request: chunked("1d\r\n" + PET),
    ends: true,
    ...refusedByNode,
  },

  {
    name: "a declared length of one byte too many",
    source: "RFC 9110, 15.5.14",
    request: head("POST /v1/pets", "Content-Length: 65537"),
    responses: [{ status: 413, code: "payload_too_large" }],
    closes: true,
  },
  {
    name: "a declared length of 2^63",
    source: "RFC 9110, 15.5.14",
    request: head("POST /v1/pets", "Content-Length: 9223372036854775808"),
    ...tooLarge,
  },
  ...rows(tooLarge, [
    [
      "a declared length of 2^64 - 1",
      "RFC 9110, 15.5.14",
      head("POST /v1/pets", "Content-Length: 18446744073709551615"),
    ],
    ["chunks beyond the limit", "RFC 9110, 15.5.14", chunked(`10001\r\n${"x".repeat(65_537)}\r\n`)],
  ]),
  {
    name: "a body of 64 KiB",
    source: "design, Body",
    request: post(`{"name":"${"x".repeat(65_510)}","categoryId":1}`),
    ...created,
  },

  {
    name: "two requests at once",
    source: "RFC 9112, 9.3.2",
    request: head("GET /v1/pets/999") + head("GET /v1/pets"),
    responses: [{ status: 404 }, { status: 200 }],
  },
  {
    name: "a POST and a GET at once",
    source: "RFC 9112, 9.3.2",
    request: post(PET) + head("GET /v1/dogs"),
    responses: [{ status: 201 }, { status: 404 }],
  },
  {
    name: "a good POST, then garbage",
    source: "RFC 9112, 9.3.2",
    request: post(PET) + "\x01garbage\r\n\r\n",
    responses: [
      { status: 201, body: /^\{.*\}$/ },
      { status: 400, code: "bad_request", headers: { connection: "close" } },
    ],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "three good requests, then garbage",
    source: "RFC 9112, 9.3.2",
    request: post(PET) + head("GET /v1/dogs") + post(PET) + "garbage",
    responses: [
      { status: 201 },
      { status: 404 },
      { status: 201 },
      { status: 400, code: "bad_request" },
    ],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a good GET, then CONNECT",
    source: "RFC 9110, 9.3.6",
    request: head("GET /v1/dogs") + "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    responses: [{ status: 404 }, { status: 405, code: "method_not_allowed" }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a good GET, then a POST with a broken chunk",
    source: "RFC 9112, 7.1",
    request: head("GET /v1/dogs") + chunked("zz\r\n"),
    responses: [{ status: 404 }, { status: 400, code: "bad_request" }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a broken chunk in a request to nowhere",
    source: "RFC 9112, 7.1",
    request: head("POST /x", "Transfer-Encoding: chunked") + "zz\r\n",
    responses: [{ status: 404, code: "not_found" }],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a refusal to nowhere, then CONNECT in the same packet (found by fuzzing)",
    source: "RFC 9110, 9.3.6",
    request: head("GET /x") + "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    responses: [
      { status: 404, code: "not_found" },
      { status: 405, code: "method_not_allowed" },
    ],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a refusal to nowhere, then garbage in the same packet (found by fuzzing)",
    source: "RFC 9112, 9.3.2",
    request: head("GET /x") + "\x01\r\n\r\n",
    responses: [
      { status: 404, code: "not_found" },
      { status: 400, code: "bad_request" },
    ],
    closes: true,
    ownServerOnly: true,
  },
  {
    name: "a GET with a body, then another",
    source: "RFC 9110, 9.3.1",
    request: head("GET /v1/dogs", "Content-Length: 29") + PET + head("GET /v1/pets"),
    responses: [{ status: 404 }, { status: 200 }],
  },
  {
    name: "what follows a refused chunked body is no request",
    source: "RFC 9112, 9.6",
    request: head("PUT /v1/pets", "Transfer-Encoding: chunked") + "5\r\nhello\r\n",
    responses: [{ status: 405, headers: { connection: "close" } }],
    closes: true,
  },
];
