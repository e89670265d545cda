import {
  AUTH,
  badRequest,
  closing,
  error,
  get,
  head,
  list,
  own,
  refusedByNode,
  rows,
  words,
  type Row,
} from "./case.js";

const versioned = (version: string): string =>
  `GET /v1/pets ${version}\r\nHost: pets.test\r\n${AUTH}\r\n`;

/** Methods, targets and versions. */
export const requestLineCases = [
  ...rows(list, [
    ["specification, GET /pets", "GET the list", get()],
    ["RFC 9112, 3.2.2", "absolute form", head("GET http://pets.test/v1/pets")],
    [
      "RFC 9112, 3.2.2",
      "absolute form, another authority",
      head("GET https://b:1/v1/pets?limit=1"),
    ],
    ["RFC 9112, 3", "a target of 8,000 bytes is read", head(`GET /v1/pets?${"a".repeat(8_000)}`)],
    ["RFC 9112, 2.2", "empty lines before the request", `\r\n\r\n${get()}`],
  ]),
  ...rows(own(list), [
    ["RFC 3986, 3.1", "absolute form, a scheme in capitals", head("GET HTTPS://b:1/v1/pets")],
  ]),
  ...rows({ responses: [{ status: 200 }] }, [
    ["RFC 9110, 9.3.2", "HEAD the list", head("HEAD /v1/pets")],
  ]),
  ...rows({ responses: [{ status: 404 }] }, [
    ["RFC 9110, 9.3.2", "HEAD a missing pet", head("HEAD /v1/pets/999")],
  ]),
  ...rows(
    error(405, "method_not_allowed", { allow: "GET, HEAD, POST" }),
    words("PUT OPTIONS PROPFIND").map((method): Row => [
      "RFC 9110, 15.5.6",
      `${method} on the list`,
      head(`${method} /v1/pets`),
    ]),
  ),
  ...rows(error(405, "method_not_allowed", { allow: "GET, HEAD" }), [
    ["RFC 9110, 15.5.6", "POST on a pet", head("POST /v1/pets/1")],
  ]),
  ...rows(own(closing(405, "method_not_allowed")), [
    ["RFC 9110, 9.3.6", "CONNECT", "CONNECT a.test:80 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ]),
  ...rows(error(404, "not_found"), [
    ["docs/http.md, The order of checks", "404 wins over 405", head("DELETE /v1/dogs")],
    ["specification, Endpoints", "the base path alone, with a query", head("GET /v1?limit=1")],
    ...words(`/v1/ /v1/pets/ /v1//pets /v1/PETS /v1/p%65ts /v1/../v1/pets /v1/%2e%2e/v1/pets /v1/./pets
      /v1/pets/1/x /v1/pets;x=1 /v1/pets%3flimit=1 /v1/pets#x /v1/pets\\1`).map((path): Row => [
      "docs/http.md, Paths",
      `${path} is no route`,
      head(`GET ${path}`),
    ]),
  ]),
  ...rows(own(error(404, "not_found")), [
    ["RFC 9110, 9.3.7; RFC 9112, 3.2.4", "OPTIONS *", head("OPTIONS *")],
  ]),
  ...rows(
    error(404, "pet_not_found"),
    words("01 1.0 %31 9223372036854775807 9223372036854775808 %zz").map((id): Row => [
      "specification, GET /pets/{petId}",
      `the pet ${id}`,
      head(`GET /v1/pets/${id}`),
    ]),
  ),
  ...rows(refusedByNode, [
    ["RFC 9110, 9.1", "a method in lower case", head("get /v1/pets")],
    ["RFC 9112, 3.1", "a method of 20,000 bytes", "G".repeat(20_000)],
    ["RFC 9112, 3.2", "a target without a slash", head("GET v1/pets")],
    ["RFC 9112, 3.2", "a target with a space", head("GET /v1/pe ts")],
    ["RFC 9112, 2.3", "the version HTTP/1.2", versioned("HTTP/1.2")],
    ["RFC 9112, 2.3", "the version http/1.1", versioned("http/1.1")],
    ["RFC 9112, 2.2", "a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["RFC 9112, 2.2", "bare line feeds", "GET /v1/pets HTTP/1.1\nHost: a\n\n"],
  ]),
  ...rows({ ...refusedByNode, ends: true }, [
    ["RFC 9112, 8", "a request line cut short", "GET /v1/pe"],
  ]),
  ...rows(badRequest, [
    ["RFC 9110, 2.5", "the version HTTP/2.0, which Node lets through", versioned("HTTP/2.0")],
    ["RFC 9112, 3", "HTTP/0.9 without a version", "GET /v1/pets\r\n\r\n"],
  ]),
  ...rows(own(closing(431, "headers_too_large")), [
    ["RFC 9110, 15.5.15", "a target of 20,000 bytes", head(`GET /v1/pets?${"a".repeat(20_000)}`)],
  ]),
  ...rows({ ...list, closes: true }, [
    ["RFC 9112, 9.3", "HTTP/1.0 needs no Host and closes", `GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n`],
  ]),
];
