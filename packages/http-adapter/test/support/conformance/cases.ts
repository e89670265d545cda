import { methodsOf } from "../operations.js";
import { PET, petOf } from "../serve.js";
import { AUTH, badRequest, chunked, closing, created, each, error, get, head } from "./case.js";
import { list, own, PET_CHUNKED, post, postHead, refusedByNode, rows, words } from "./case.js";
import type { ConformanceCase, Row } from "./case.js";
import { contentCases } from "./content.js";

const HOST = "Host: pets.test\r\n";
const JSON_TYPE = "Content-Type: application/json";
const TEXT_TYPE = "Content-Type: text/plain";
const TOO_LONG = "Content-Length: 65537";
const EXPECT = "Expect: 100-continue";
const bare = (lines: string): string => `GET /v1/pets HTTP/1.1\r\n${lines}\r\n`;
const authorized = (value: string): string => bare(`${HOST}aUTHORIZATION: ${value}\r\n`);
const versioned = (version: string, request = get()): string =>
  request.replace("HTTP/1.1", version);
const getPet = (id: string): string => head(`GET /v1/pets/${id}`);
const hosted = (host: string): string => bare(`Host: ${host}\r\n${AUTH}`);
const NO_ROUTES =
  words(`/v1/ /v1/pets/ /v1//pets /v1/PETS /v1/p%65ts /v1/../v1/pets /v1/%2e%2e/v1/pets /v1/./pets
  /v1/pets/1/x /v1/pets;x=1 /v1/pets%3flimit=1 /v1/pets#x /v1/pets\\1`);
const NO_PETS = words("01 1.0 %31 9223372036854775807 9223372036854775808 %zz");
const GOOD_HOSTS = ["", "a:1", "[::FFFF:127.0.0.1]:80", "A.TEST", "a:"];
const NO_KEYS = ["Basic cGV0OnBldA==", "Bearer", "{key}"];
const WRONG_KEYS = ["Bearer nonsense", "Bearer {key}x", "Bearer {key} {key}"];
const CHALLENGE = 'Bearer realm="petstore"';
const NO_IDEMPOTENCY_KEYS = ["a;b", "a\\b", '"a";p=1'];
const TWO_KEYS = ["Idempotency-Key: a", "Idempotency-Key: a", "Content-Length: 50000"];
const BAD_LENGTHS = ["-1", "0x1", "", "1, 1", "99999999999999999999999"];
/** Node's parser refuses the first, and lets the others through. */
const BAD_CODINGS = ["chunked, chunked", "gzip", "gzip, chunked", "xchunked", "chunked;q=1", ""];
const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
const DOGS = head("GET /v1/dogs");
const SOURCE = head("SOURCE /v1/pets");
const LONG = "a".repeat(20_000);
/** Responses with these statuses, and the end of the connection. */
const lastOf = (...statuses: readonly number[]) =>
  own({ responses: statuses.map((status) => ({ status })), closes: true });
const coded = (value: string): string => postHead(`Transfer-Encoding: ${value}`) + PET_CHUNKED;
const tooLarge = closing(413, "payload_too_large");

const posts = (source: string, header: string, values: readonly string[]): readonly Row[] =>
  each(source, `${header}: "%s"`, values, (value) => post(PET, `${header}: ${value}`));

/** Every case, for any server that a store is mounted on. Give the key a plan that they fit into. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...contentCases,
  ...rows(list, [
    ["specification, GET /pets", "GET the list", get()],
    ["RFC 9112, 3.2.2", "absolute form", head("GET http://pets.test/v1/pets")],
    ["RFC 9112, 3", "a target of 8,000 bytes is read", head(`GET /v1/pets?${"a".repeat(8_000)}`)],
    ["RFC 9112, 2.2", "empty lines before the request", `\r\n\r\n${get()}`],
    ...each("RFC 9110, 7.2", 'a Host of "%s" is one', GOOD_HOSTS, hosted),
    ["RFC 9110, 5.5", "values beyond ASCII, or empty", get("X: \xff", "Y:")],
    ["RFC 9112, 5", "values that are names of headers", get("X: host", "Y: authorization", "Z: z")],
    ...each("RFC 9110, 11.1", 'the line "%s"', ["bEARER {key}", "Bearer  {key}"], authorized),
  ]),
  ...rows({ ...list, closes: true }, [
    ["RFC 9112, 9.3", "HTTP/1.0 needs no Host and closes", `GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n`],
  ]),
  ...rows(created, [
    ["RFC 9110, 8.3", "no Content-Type", post(PET)],
    ...posts("specification, Endpoints; RFC 9110, 8.3.1", "Content-Type", [
      'application/json;charset="utf-8"',
      "APPLICATION/JSON ; profile=x; charset=Utf-8",
      `application/json; profile=${"x".repeat(200)};${" ".repeat(300)}charset=utf-8`,
    ]),
    ...posts("RFC 9110, 8.4.1", "Content-Encoding", ["Identity", ""]),
    ["RFC 9112, 7", "Transfer-Encoding: CHUNKED", coded("CHUNKED")],
    ["RFC 9112, 7.1.1", "a chunk extension", chunked(PET_CHUNKED.replace("1d", "1d;a=b;c"))],
    ["RFC 9112, 7.1.2", "a trailer", chunked(PET_CHUNKED.replace("0\r\n", "0\r\nX: y\r\n"))],
    ["docs/http.md, Creating a pet", "a body of 64 KiB", post(petOf(65_536))],
  ]),
  ...rows({ responses: [{ status: 100 }, { status: 201 }] }, [
    ["RFC 9110, 10.1.1", "Expect: 100-continue, and all is right", post(PET, EXPECT)],
  ]),

  ...rows(badRequest, [
    ["RFC 9110, 2.5", "the version HTTP/2.0, which Node lets through", versioned("HTTP/2.0")],
    ["RFC 9112, 2.3", "RTSP/1.0, which Node lets through", versioned("RTSP/1.0")],
    ["RFC 9112, 2.3", "POST with RTSP/1.1 and a Host", versioned("RTSP/1.1", post(PET))],
    ["RFC 9112, 2.3", "ICE/1.1 and a Host, as RTSP/1.1", versioned("ICE/1.1", SOURCE)],
    ["RFC 9112, 3", "HTTP/0.9 without a version", "GET /v1/pets\r\n\r\n"],
    ["RFC 9112, 3.2", "two Hosts", bare(`${HOST}${HOST}${AUTH}`)],
    ...each("RFC 3986, 3.2.2", "a Host of %s", ["a/b", "u@a", "a b", "a:x", "[::1"], hosted),
    ["RFC 9112, 6.1", "Transfer-Encoding in HTTP/1.0", chunked(PET_CHUNKED).replace("1.1", "1.0")],
  ]),
  ...rows(refusedByNode, [
    ["RFC 9110, 9.1", "a method in lower case", head("get /v1/pets")],
    ["RFC 9112, 3.1", "a method of 20,000 bytes", "G".repeat(20_000)],
    ["RFC 9112, 3.2", "a target without a slash", head("GET v1/pets")],
    ["RFC 9112, 3.2", "a target with a space", head("GET /v1/pe ts")],
    ["RFC 9112, 2.3", "the version HTTP/1.2", versioned("HTTP/1.2")],
    ["RFC 9112, 2.2", "a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["RFC 9112, 2.2", "bare line feeds", "GET /v1/pets HTTP/1.1\nHost: a\n\n"],
    ["RFC 9112, 3.2", "no Host", bare(AUTH)],
    ["RFC 9112, 5", "a header with a space before the colon", get("X : a")],
    ["RFC 9110, 5.5", "a header with NUL in its value", get("X: a\0b")],
    ["RFC 9112, 5.2", "a folded header", get("X: a\r\n b")],
    ["RFC 9110, 5.5", "a header with a bare carriage return", get("X: a\rY: b")],
    ...each("RFC 9112, 6.3; RFC 9110, 8.6", 'Content-Length: "%s"', BAD_LENGTHS, (length) =>
      postHead(`Content-Length: ${length}`).concat("x"),
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
    ["RFC 9112, 8", "a request line cut short", "GET /v1/pe"],
    ["RFC 9112, 8", "a body that ends early", postHead("Content-Length: 100") + PET],
    ["RFC 9112, 8", "a chunked body that ends early", chunked("1d\r\n" + PET)],
  ]),

  ...rows(error(401, "missing_api_key", { "www-authenticate": CHALLENGE }), [
    ["specification, Authentication, 3", "no key", bare(HOST)],
    ...each("RFC 6750, 3.1", '"%s" holds no key', NO_KEYS, authorized),
  ]),
  ...rows(
    error(401, "invalid_api_key", { "www-authenticate": `${CHALLENGE}, error="invalid_token"` }),
    [
      ...each("specification, Authentication, 3", '"%s" is wrong', WRONG_KEYS, authorized),
      ["RFC 9110, 11.6.2", "a key and another scheme", get("Authorization: Basic eA==")],
    ],
  ),
  ...rows(error(404, "not_found"), [
    ["docs/http.md, The order of checks", "404 wins over 405", head("DELETE /v1/dogs")],
    ["specification, Endpoints", "the base path alone, with a query", head("GET /v1?limit=1")],
    ...each("docs/http.md, Paths", "%s is no route", NO_ROUTES, (path) => head(`GET ${path}`)),
  ]),
  ...rows(own(error(404, "not_found")), [
    ["RFC 9110, 9.3.7; RFC 9112, 3.2.4", "OPTIONS *", head("OPTIONS *")],
  ]),
  ...rows(own({ ...error(404, "not_found"), closes: true }), [
    ["RFC 9112, 7.1", "a broken chunk to nowhere", chunked("zz\r\n").replace("/v1/pets", "/x")],
  ]),
  ...rows(
    error(404, "pet_not_found"),
    each("specification, GET /pets/{petId}", "the pet %s", NO_PETS, getPet),
  ),
  ...rows(
    error(405, "method_not_allowed", { allow: methodsOf(" /pets") }),
    each("RFC 9110, 15.5.6", "%s on the list", ["PUT", "OPTIONS", "PROPFIND"], (method) =>
      head(`${method} /v1/pets`),
    ),
  ),
  ...rows(error(405, "method_not_allowed", { allow: methodsOf(" /pets/{petId}") }), [
    ["RFC 9110, 15.5.6", "POST on a pet", head("POST /v1/pets/1")],
  ]),
  ...rows(closing(405, "method_not_allowed"), [
    ["RFC 9112, 9.6", "a refused chunked body", chunked("5\r\nhello\r\n").replace("POST", "PUT")],
  ]),
  ...rows(own(closing(405, "method_not_allowed")), [["RFC 9110, 9.3.6", "CONNECT", CONNECT]]),
  ...rows(tooLarge, [
    ["RFC 9110, 15.5.14", "a declared length of one too many", postHead(TOO_LONG)],
    ["RFC 9110, 15.5.14", "a declared length of 2^63", postHead(`Content-Length: ${2n ** 63n}`)],
    ["RFC 9110, 15.5.14", "chunks beyond the limit", chunked(`10001\r\n${"x".repeat(65_537)}\r\n`)],
    ["docs/http.md, The order of checks", "413 wins over 415", postHead(TEXT_TYPE, TOO_LONG)],
  ]),
  ...rows(own(tooLarge), [
    ["RFC 9112, 7.1.1", "a chunk extension of 20,000 bytes", chunked(`1;${LONG}\r\nx\r\n`)],
  ]),
  ...rows(error(415, "unsupported_media_type", { accept: "application/json" }), [
    ...posts("RFC 9110, 15.5.16", "Content-Type", [
      ...["text/plain", "application/json5", "json", "", "application/json;x ; charset=utf-16"],
    ]),
    ["RFC 9110, 5.3", "two Content-Type lines", post(PET, JSON_TYPE, "Content-Type: a")],
  ]),
  ...rows(
    error(415, "unsupported_media_type", { "accept-encoding": "identity" }),
    posts("RFC 9110, 8.4", "Content-Encoding", ["gzip", "identity, gzip"]),
  ),
  ...rows(error(400, "invalid_idempotency_key"), [
    ...posts("docs/http.md, Creating a pet exactly once", "Idempotency-Key", NO_IDEMPOTENCY_KEYS),
    ["docs/http.md, The order of checks", "two keys, before the body", postHead(...TWO_KEYS)],
  ]),
  ...rows(own(closing(417, "expectation_failed")), [
    ["RFC 9110, 15.5.18", "an unknown expectation", get("Expect: cake")],
    ["RFC 9110, 15.5.18", "an unknown expectation elsewhere", head("GET /", "Expect: cake")],
    ["RFC 9110, 15.5.18", "100-continue first", get("Expect: 100-continue, cake")],
    ["RFC 9110, 15.5.18", "100-continue last", get("Expect: cake, 100-continue")],
  ]),
  ...(
    [
      ["with too long a body", "POST /v1/pets", TOO_LONG, 413, "payload_too_large"],
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
  ...rows(own(closing(431, "headers_too_large")), [
    ["RFC 9110, 15.5.15", "a target of 20,000 bytes", head(`GET /v1/pets?${LONG}`)],
    ["RFC 6585, 5", "a header of 20,000 bytes", get(`X: ${LONG}`)],
    // On a host's server, Node 24.21 and newer refuse them: test/mount.test.ts.
    ["RFC 6585, 5", "3,000 headers", get(...Array<string>(3_000).fill("a:"))],
    ["RFC 6585, 5", "a trailer of 20,000 bytes", chunked(`2\r\n{}\r\n0\r\nX: ${LONG}\r\n\r\n`)],
  ]),

  ...rows({ responses: [{ status: 200, headers: { connection: "close" } }], closes: true }, [
    ["RFC 9112, 9.6", "Connection: close", get("Connection: close")],
    ["RFC 9110, 7.8", "an upgrade is ignored", get("Connection: Upgrade", "Upgrade: websocket")],
  ]),
  ...rows({ ...created, closes: true }, [
    [
      "RFC 9110, 7.8",
      "an upgrade to h2c is ignored",
      post(PET, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"),
    ],
  ]),
  ...rows({ responses: [{ status: 404 }, { status: 200 }] }, [
    ["RFC 9112, 9.3.2", "two requests at once", head("GET /v1/pets/999") + get()],
  ]),
  ...rows(lastOf(200), [
    ["RFC 9112, 9.6", "Connection: close, and more", get("Connection: close") + head("GET /v1")],
  ]),
  ...rows(lastOf(201, 404, 201, 400), [
    ["RFC 9112, 9.3.2", "good requests, then garbage", post(PET) + DOGS + post(PET) + "garbage"],
  ]),
  ...rows(lastOf(404, 405), [
    ["RFC 9110, 9.3.6", "a GET, then CONNECT", DOGS + CONNECT],
    ["RFC 9110, 9.3.6", "a refusal to nowhere, then CONNECT", head("GET /x") + CONNECT],
  ]),
  ...rows(lastOf(404, 400), [
    ["RFC 9112, 7.1", "a GET, then a POST with a broken chunk", DOGS + chunked("zz\r\n")],
    ["RFC 9112, 9.3.2", "a refusal to nowhere, then garbage", head("GET /x") + "\x01\r\n\r\n"],
  ]),
];
