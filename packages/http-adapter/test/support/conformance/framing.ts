import { PET, petOf } from "../pet.js";
import {
  badRequest,
  chunked,
  closing,
  created,
  each,
  error,
  get,
  head,
  own,
  PET_CHUNKED,
  post,
  postHead,
  refusedByNode,
  rows,
} from "./case.js";

const tooLarge = closing(413, "payload_too_large");
const BAD_LENGTHS = ["-1", "0x1", "", "1, 1", "99999999999999999999999"];
/** Node's parser refuses the first, and lets the others through. */
const BAD_CODINGS = ["chunked, chunked", "gzip", "gzip, chunked", "xchunked", "chunked;q=1", ""];
const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
const DOGS = head("GET /v1/dogs");
const LONG = "a".repeat(20_000);
/** Responses with these statuses, and the end of the connection. */
const lastOf = (...statuses: readonly number[]) =>
  own({ responses: statuses.map((status) => ({ status })), closes: true });
const coded = (value: string): string => postHead(`Transfer-Encoding: ${value}`) + PET_CHUNKED;

/** The end of a body, and the bytes after it. */
export const framingCases = [
  ...rows(refusedByNode, [
    ...each(
      "RFC 9112, 6.3; RFC 9110, 8.6",
      'Content-Length: "%s"',
      BAD_LENGTHS,
      (length) => postHead(`Content-Length: ${length}`) + "x",
    ),
    ["RFC 9112, 6.3", "the same Content-Length twice", post(PET, "Content-Length: 29")],
    ["RFC 9112, 6.3", "two Content-Lengths", post(PET, "Content-Length: 5")],
    ["RFC 9112, 6.1", "a length, then a coding", post("12345", "Transfer-Encoding: chunked")],
    ["RFC 9112, 6.1", "a coding, then a length", chunked(PET_CHUNKED, "Content-Length: 5")],
    ...each("RFC 9112, 6.1", 'the coding "%s"', BAD_CODINGS, coded),
    ["RFC 9112, 7.1", "a chunk without a size", chunked("zz\r\n")],
    ["RFC 9112, 7.1", "a chunk with a space after its size", chunked("1d \r\n")],
    ["RFC 9112, 7.1", "a chunk with a line feed alone after its size", chunked("1d\n")],
    ["RFC 9112, 7.1", "a chunk with more bytes than its size", chunked("2\r\nhix\r\n")],
  ]),
  ...rows({ ...refusedByNode, ends: true }, [
    ["RFC 9112, 8", "a body that ends early", postHead("Content-Length: 100") + PET],
    ["RFC 9112, 8", "a chunked body that ends early", chunked("1d\r\n" + PET)],
  ]),
  ...rows(badRequest, [
    ["RFC 9112, 6.1", "Transfer-Encoding in HTTP/1.0", chunked(PET_CHUNKED).replace("1.1", "1.0")],
  ]),
  ...rows(created, [
    ["RFC 9112, 7", "Transfer-Encoding: CHUNKED", coded("CHUNKED")],
    ["RFC 9112, 7.1.1", "a chunk extension", chunked(PET_CHUNKED.replace("1d", "1d;a=b;c"))],
    ["RFC 9112, 7.1.2", "a trailer", chunked(PET_CHUNKED.replace("0\r\n", "0\r\nX: y\r\n"))],
    ["docs/http.md, Creating a pet", "a body of 64 KiB", post(petOf(65_536))],
  ]),
  ...rows(own(tooLarge), [
    ["RFC 9112, 7.1.1", "a chunk extension of 20,000 bytes", chunked(`1;${LONG}\r\nx\r\n`)],
  ]),
  ...rows(own(closing(431, "headers_too_large")), [
    ["RFC 6585, 5", "a trailer of 20,000 bytes", chunked(`2\r\n{}\r\n0\r\nX: ${LONG}\r\n\r\n`)],
  ]),
  ...rows(tooLarge, [
    ["RFC 9110, 15.5.14", "a declared length of one too many", postHead("Content-Length: 65537")],
    ["RFC 9110, 15.5.14", "a declared length of 2^63", postHead(`Content-Length: ${2n ** 63n}`)],
    ["RFC 9110, 15.5.14", "chunks beyond the limit", chunked(`10001\r\n${"x".repeat(65_537)}\r\n`)],
  ]),

  ...rows({ responses: [{ status: 404 }, { status: 200 }] }, [
    ["RFC 9112, 9.3.2", "two requests at once", head("GET /v1/pets/999") + get()],
    [
      "RFC 9112, 9.3.2",
      "a GET with a body, then another",
      head("GET /v1/dogs", "Content-Length: 29") + PET + get(),
    ],
  ]),
  ...rows(lastOf(201, 404, 201, 400), [
    ["RFC 9112, 9.3.2", "good requests, then garbage", post(PET) + DOGS + post(PET) + "garbage"],
  ]),
  // Fuzzing has found those to nowhere.
  ...rows(lastOf(404, 405), [
    ["RFC 9110, 9.3.6", "a GET, then CONNECT", DOGS + CONNECT],
    ["RFC 9110, 9.3.6", "a refusal to nowhere, then CONNECT", head("GET /x") + CONNECT],
  ]),
  ...rows(lastOf(404, 400), [
    ["RFC 9112, 7.1", "a GET, then a POST with a broken chunk", DOGS + chunked("zz\r\n")],
    ["RFC 9112, 9.3.2", "a refusal to nowhere, then garbage", head("GET /x") + "\x01\r\n\r\n"],
  ]),
  ...rows(own({ ...error(404, "not_found"), closes: true }), [
    ["RFC 9112, 7.1", "a broken chunk to nowhere", chunked("zz\r\n").replace("/v1/pets", "/x")],
  ]),
  ...rows(closing(405, "method_not_allowed"), [
    ["RFC 9112, 9.6", "a refused chunked body", chunked("5\r\nhello\r\n").replace("POST", "PUT")],
  ]),
];
