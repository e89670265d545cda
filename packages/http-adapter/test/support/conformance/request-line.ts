import {
  AUTH,
  badRequest,
  closing,
  error,
  head,
  list,
  own,
  refusedByNode,
  rows,
  type ConformanceCase,
} from "./case.js";

const notFound = error(404, "not_found");
const host = "Host: pets.test\r\n";
const CONNECT = `CONNECT a.test:80 HTTP/1.1\r\n${host}\r\n`;
const versioned = (version: string): string => `GET /v1/pets ${version}\r\n${host}${AUTH}\r\n`;

/** Methods, targets and versions. */
export const requestLineCases: readonly ConformanceCase[] = [
  ...rows("specification, GET /pets", list, [["GET the list", head("GET /v1/pets")]]),
  ...rows("RFC 9110, 9.3.2", { responses: [{ status: 200 }] }, [
    ["HEAD the list", head("HEAD /v1/pets")],
  ]),
  ...rows("RFC 9110, 9.3.2", { responses: [{ status: 404 }] }, [
    ["HEAD a missing pet", head("HEAD /v1/pets/999")],
  ]),
  ...rows(
    "RFC 9110, 15.5.6",
    error(405, "method_not_allowed", { allow: "GET, HEAD, POST" }),
    ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"].map((method) => [
      `${method} on the list`,
      head(`${method} /v1/pets`),
    ]),
  ),
  ...rows(
    "RFC 9110, 15.5.6",
    error(405, "method_not_allowed", { allow: "GET, HEAD" }),
    ["POST", "DELETE"].map((method) => [`${method} on a pet`, head(`${method} /v1/pets/1`)]),
  ),
  ...rows("docs/http.md, The order of checks", notFound, [
    ["404 wins over 405", head("DELETE /v1/dogs")],
  ]),
  ...rows("RFC 9110, 9.1; RFC 9112, 3.1", refusedByNode, [
    ["an unknown method", head("FOO /v1/pets")],
    ["a method in lower case", head("get /v1/pets")],
    ["a method of 20,000 bytes", "G".repeat(20_000)],
  ]),
  ...rows("RFC 9110, 9.3.6", own(closing(405, "method_not_allowed")), [
    ["CONNECT to another host", CONNECT],
    ["CONNECT to a path", head("CONNECT /v1/pets")],
  ]),
  ...rows("RFC 9110, 9.3.7; RFC 9112, 3.2.4", own(notFound), [
    ["OPTIONS *", head("OPTIONS *")],
    ["GET *", head("GET *")],
  ]),
  ...rows("specification, Endpoints", notFound, [
    ["the base path alone", head("GET /v1")],
    ["the base path alone, with a query", head("GET /v1?limit=1")],
  ]),
  ...rows(
    "docs/http.md, Paths; RFC 3986, 6.2.2",
    notFound,
    [
      "/v1/",
      "/v1/pets/",
      "/v1//pets",
      "/v1/PETS",
      "/v1/p%65ts",
      "/v1/../v1/pets",
      "/v1/%2e%2e/v1/pets",
      "/v1/./pets",
      "/v1/pets/1/x",
      "/v1/pets;x=1",
      "/v1/pets%3flimit=1",
      "/v1/pets#x",
      "/v1/pets\\1",
    ].map((target) => [`${target} is no route`, head(`GET ${target}`)]),
  ),
  ...rows(
    "docs/http.md, Paths",
    own(notFound),
    ["//evil/v1/pets", "/v1x/pets", "ftp://a/v1/pets"].map((target) => [
      `${target} is not below the base path`,
      head(`GET ${target}`),
    ]),
  ),
  ...rows(
    "specification, GET /pets/{petId}",
    error(404, "pet_not_found"),
    ["01", "1.0", "%31", "9223372036854775807", "9223372036854775808", "%zz", "%"].map((id) => [
      `the pet ${id}`,
      head(`GET /v1/pets/${id}`),
    ]),
  ),
  ...rows("RFC 9112, 3.2.2", list, [
    ["absolute form", head("GET http://pets.test/v1/pets")],
    ["absolute form, another authority than Host", head("GET https://other:1/v1/pets?limit=1")],
  ]),
  ...rows("RFC 3986, 3.1", own(list), [
    ["absolute form, with a scheme in capitals", head("GET HTTPS://b:1/v1/pets?limit=1")],
  ]),
  ...rows("RFC 9112, 3.2.2", notFound, [
    ["absolute form of no route", head("GET http://pets.test/v1/dogs")],
  ]),
  ...rows(
    "RFC 9112, 3.2",
    refusedByNode,
    ["v1/pets", "", "/v1/pe ts", "/v1/\0", "/v1/\xff"].map((target) => [
      `the target ${JSON.stringify(target)} is none`,
      head(`GET ${target}`),
    ]),
  ),
  ...rows("RFC 9110, 15.5.15", own(closing(431, "headers_too_large")), [
    ["a target of 20,000 bytes", head(`GET /v1/pets?${"a".repeat(20_000)}`)],
  ]),
  ...rows("RFC 9112, 3", list, [
    ["a target of 8,000 bytes is read", head(`GET /v1/pets?${"a".repeat(8_000)}`)],
  ]),
  ...rows(
    "RFC 9112, 2.3",
    refusedByNode,
    ["HTTP/1.2", "HTTP/3.0", "HTTP/1.10", "HTTP/1.1 ", "http/1.1"].map((version) => [
      `the version ${JSON.stringify(version)}`,
      versioned(version),
    ]),
  ),
  ...rows(
    "RFC 9110, 2.5",
    badRequest,
    ["HTTP/2.0", "HTTP/0.9"].map((version) => [
      `the version ${version}, which Node's parser lets through`,
      versioned(version),
    ]),
  ),
  ...rows("RFC 9112, 3", badRequest, [["HTTP/0.9 without a version", "GET /v1/pets\r\n\r\n"]]),
  ...rows("RFC 9113, 3.4; RFC 9112, 2.2", refusedByNode, [
    ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["bare line feeds", "GET /v1/pets HTTP/1.1\nHost: a\n\n"],
  ]),
  ...rows("RFC 9112, 2.2", list, [
    ["empty lines before the request", `\r\n\r\n${head("GET /v1/pets")}`],
  ]),
  ...rows("RFC 9112, 8", { ...refusedByNode, ends: true }, [
    ["a request line cut short", "GET /v1/pe"],
    ["a header section cut short", "GET /v1/pets HTTP/1.1\r\nHost: a"],
  ]),
  ...rows("RFC 9112, 9.3", { ...list, closes: true }, [
    ["HTTP/1.0 needs no Host and closes", `GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n`],
  ]),
];
