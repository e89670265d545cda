import { encodeOpenApiDocument, openApiDocument } from "@petstore/http-adapter";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { WireResponse } from "./wire.js";

/** An operation: its method and its path in the document. */
export type OperationKey = `${"GET" | "HEAD" | "POST"} ${"/pets" | "/pets/{petId}"}`;

/** The document as a client reads it. */
export const documentOnTheWire = JSON.parse(
  encodeOpenApiDocument(openApiDocument),
) as typeof openApiDocument;

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(documentOnTheWire, "openapi.json");

/** Reads headers as the types of their schemas. */
const ajvForText = new Ajv2020({ strict: false, coerceTypes: true });
formats.default(ajvForText);

/** Returns each difference between a response and the document's declaration of the operation. */
export function undeclared(operation: OperationKey, response: WireResponse): readonly string[] {
  const [method, path] = operation.split(" ") as ["GET", "/pets"];
  const name = method.toLowerCase() as "get";
  return differences(["paths", path, name, "responses", String(response.status)], response);
}

/** Everything in which a response to a request for no operation is not an Error with the usual headers. */
export function undeclaredElsewhere({ headers, ...response }: WireResponse): readonly string[] {
  const { allow = "", ...usual } = headers;
  const isAllow = allow === "" || allow === "GET, HEAD, POST" || allow === "GET, HEAD";
  const { headers: declared } = documentOnTheWire.paths["/pets"].get.responses["400"];
  return [
    ...(isAllow ? [] : [`Allow: ${allow}`]),
    ...Object.entries(declared).flatMap(([name, header]) =>
      headerDifferences(name, header as DeclaredHeader, { ...response, headers }),
    ),
    ...standardHeadersMissing({ headers: declared }, { ...response, headers: usual }),
    ...bodyDifferences(["components", "schemas", "Error"], { ...response, headers }),
  ];
}

interface DeclaredHeader {
  readonly required: boolean;
  readonly schema: AnySchema;
}

interface DeclaredResponse {
  readonly headers: Readonly<Record<string, DeclaredHeader | { readonly $ref: string }>>;
  readonly content?: object;
}

function differences(place: readonly string[], response: WireResponse): readonly string[] {
  const declared = at(documentOnTheWire, place) as DeclaredResponse | undefined;
  if (declared === undefined) return [`${place.join(" ")} is not declared`];
  return [
    ...Object.entries(declared.headers).flatMap(([name, header]) =>
      headerDifferences(name, header, response),
    ),
    ...standardHeadersMissing(declared, response),
    ...(declared.content === undefined
      ? [...(response.body === "" ? [] : ["there is a body"])]
      : bodyDifferences([...place, "content", "application/json", "schema"], response)),
  ];
}

function headerDifferences(
  name: string,
  declared: DeclaredHeader | { readonly $ref: string },
  response: WireResponse,
): readonly string[] {
  const header =
    "$ref" in declared
      ? (at(documentOnTheWire, declared.$ref.slice(2).split("/")) as DeclaredHeader)
      : declared;
  const value = response.headers[name.toLowerCase()];
  if (value === undefined) return header.required ? [`${name} is missing`] : [];
  return ajvForText.validate({ properties: { value: header.schema } }, { value })
    ? []
    : [`${name}: ${value}: ${ajvForText.errorsText()}`];
}

/** No header that says something of the response is kept from the reader. */
function standardHeadersMissing(
  { headers }: DeclaredResponse,
  response: WireResponse,
): readonly string[] {
  const ofTransport = [
    "content-type",
    "content-length",
    "date",
    "connection",
    "keep-alive",
    "x-request-id",
  ];
  const known = [...ofTransport, ...Object.keys(headers).map((name) => name.toLowerCase())];
  return Object.keys(response.headers)
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is not declared`);
}

function bodyDifferences(place: readonly string[], response: WireResponse): readonly string[] {
  const pointer = place
    .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const type = response.headers["content-type"] ?? "";
  if (type !== "application/json") return [`the type is ${type}`];
  return ajv.validate({ $ref: `openapi.json#/${pointer}` }, JSON.parse(response.body))
    ? []
    : [`${response.body}: ${ajv.errorsText()}`];
}

function at(value: unknown, [first, ...others]: readonly string[]): unknown {
  if (first === undefined || typeof value !== "object" || value === null) return value;
  return at((value as Readonly<Record<string, unknown>>)[first], others);
}
