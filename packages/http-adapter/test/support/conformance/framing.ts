import { PET } from "../pet.js";
import {
  badRequest,
  chunked,
  closing,
  created,
  error,
  head,
  own,
  PET_CHUNKED,
  post,
  refusedByNode,
  rows,
  type ConformanceCase,
} from "./case.js";

const tooLarge = closing(413, "payload_too_large");
const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
/** Responses with these statuses, and the end of the connection. */
const lastOf = (...statuses: readonly number[]) =>
  own({ responses: statuses.map((status) => ({ status })), closes: true });

/** Cases of the end of a body, and the bytes after it. */
export const framingCases: readonly ConformanceCase[] = [
  ...rows(
    "RFC 9112, 6.3; RFC 9110, 8.6",
    refusedByNode,
    ["-1", "+1", "0x1", "", "1 1", "1, 1", "1,1", "1.0", "99999999999999999999999"].map((value) => [
      `Content-Length: ${JSON.stringify(value)}`,
      head("POST /v1/pets", `Content-Length: ${value}`) + "x",
    ]),
  ),
  ...rows("RFC 9112, 6.1 and 6.3", refusedByNode, [
    ["the same Content-Length twice", post(PET, "Content-Length: 29")],
    ["two Content-Lengths", post(PET, "Content-Length: 5")],
    [
      "Content-Length, then Transfer-Encoding",
      head("POST /v1/pets", "Content-Length: 5", "Transfer-Encoding: chunked") + PET_CHUNKED,
    ],
    ["Transfer-Encoding, then Content-Length", chunked(PET_CHUNKED, "Content-Length: 5")],
    ["two Transfer-Encoding lines", chunked(PET_CHUNKED, "Transfer-Encoding: chunked")],
  ]),
  // Node's parser refuses the first two, and lets the others through.
  ...rows(
    "RFC 9112, 6.1",
    refusedByNode,
    [
      "chunked, chunked",
      "\x0bchunked",
      "gzip",
      "gzip, chunked",
      "xchunked",
      "identity",
      "chunked;q=1",
      "",
    ].map((value) => [
      `Transfer-Encoding: ${JSON.stringify(value)}`,
      head("POST /v1/pets", `Transfer-Encoding: ${value}`) + PET_CHUNKED,
    ]),
  ),
  ...rows("RFC 9112, 6.1", badRequest, [
    [
      "Transfer-Encoding in HTTP/1.0",
      chunked(PET_CHUNKED).replace("HTTP/1.1\r\nHost: pets.test", "HTTP/1.0"),
    ],
  ]),

  ...rows("RFC 9112, 7 and 7.1", created, [
    [
      "Transfer-Encoding: CHUNKED",
      head("POST /v1/pets", "Transfer-Encoding: CHUNKED") + PET_CHUNKED,
    ],
    ["a chunked body", chunked(PET_CHUNKED)],
    ["a chunk extension", chunked(PET_CHUNKED.replace("1d", "1d;a=b;c"))],
    ["a trailer", chunked(PET_CHUNKED.replace("0\r\n", "0\r\nX: y\r\n"))],
    ["chunks of one byte", chunked(PET.replace(/./g, "1\r\n$&\r\n") + "0\r\n\r\n")],
  ]),
  ...rows("RFC 9112, 7.1", refusedByNode, [
    ["a chunk without a size", chunked("zz\r\n")],
    ["a chunk with an endless size", chunked("fffffffffffffffff\r\n")],
    ["a chunk with a negative size", chunked("-1\r\n")],
    ["a chunk with a hexadecimal prefix", chunked("0x1d\r\n")],
    ["a chunk with a space after its size", chunked("1d \r\n")],
    ["a chunk with a line feed alone after its size", chunked("1d\n")],
    ["a chunk with more bytes than its size", chunked("2\r\nhix\r\n")],
    ["a trailer without a colon", chunked("2\r\n{}\r\n0\r\nX y\r\n\r\n")],
  ]),
  ...rows("RFC 9112, 7.1.1", own(tooLarge), [
    ["a chunk extension of 20,000 bytes", chunked(`1;${"a".repeat(20_000)}\r\nx\r\n`)],
  ]),
  ...rows("RFC 6585, 5", own(closing(431, "headers_too_large")), [
    ["a trailer of 20,000 bytes", chunked(`2\r\n{}\r\n0\r\nX: ${"y".repeat(20_000)}\r\n\r\n`)],
  ]),
  ...rows("RFC 9112, 8", { ...refusedByNode, ends: true }, [
    ["a body that ends early", head("POST /v1/pets", "Content-Length: 100") + PET],
    ["a chunked body that ends early", chunked("1d\r\n" + PET)],
  ]),

  ...rows("RFC 9110, 15.5.14", { ...error(413, "payload_too_large"), closes: true }, [
    ["a declared length of one byte too many", head("POST /v1/pets", "Content-Length: 65537")],
  ]),
  ...rows("RFC 9110, 15.5.14", tooLarge, [
    ["a declared length of 2^63", head("POST /v1/pets", "Content-Length: 9223372036854775808")],
    ["chunks beyond the limit", chunked(`10001\r\n${"x".repeat(65_537)}\r\n`)],
  ]),
  ...rows("docs/http.md, Creating a pet", created, [
    ["a body of 64 KiB", post(`{"name":"${"x".repeat(65_510)}","categoryId":1}`)],
  ]),

  ...rows("RFC 9112, 9.3.2", { responses: [{ status: 404 }, { status: 200 }] }, [
    ["two requests at once", head("GET /v1/pets/999") + head("GET /v1/pets")],
    [
      "a GET with a body, then another",
      head("GET /v1/dogs", "Content-Length: 29") + PET + head("GET /v1/pets"),
    ],
  ]),
  ...rows("RFC 9112, 9.3.2", { responses: [{ status: 201 }, { status: 404 }] }, [
    ["a POST and a GET at once", post(PET) + head("GET /v1/dogs")],
  ]),
  ...rows("RFC 9112, 9.3.2", lastOf(201, 404, 201, 400), [
    ["three good requests, then garbage", post(PET) + head("GET /v1/dogs") + post(PET) + "garbage"],
  ]),
  ...rows("RFC 9110, 9.3.6", lastOf(404, 405), [
    ["a GET, then CONNECT", head("GET /v1/dogs") + CONNECT],
    [
      "a refusal to nowhere, then CONNECT in the same packet (found by fuzzing)",
      head("GET /x") + CONNECT,
    ],
  ]),
  ...rows("RFC 9112, 7.1 and 9.3.2", lastOf(404, 400), [
    ["a GET, then a POST with a broken chunk", head("GET /v1/dogs") + chunked("zz\r\n")],
    [
      "a refusal to nowhere, then garbage in the same packet (found by fuzzing)",
      head("GET /x") + "\x01\r\n\r\n",
    ],
  ]),
  ...rows("RFC 9112, 7.1", own({ ...error(404, "not_found"), closes: true }), [
    [
      "a broken chunk in a request to nowhere",
      head("POST /x", "Transfer-Encoding: chunked") + "zz\r\n",
    ],
  ]),
  ...rows("RFC 9112, 9.6", closing(405, "method_not_allowed"), [
    [
      "what follows a refused chunked body is no request",
      head("PUT /v1/pets", "Transfer-Encoding: chunked") + "5\r\nhello\r\n",
    ],
  ]),
];
