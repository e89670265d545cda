import { openApiDocument } from "@petstore/http-adapter";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { methodsOf, type Operation } from "./operations.js";
import type { WireResponse } from "./wire.js";

export const documentOnTheWire = JSON.parse(
  JSON.stringify(openApiDocument),
) as typeof openApiDocument;

const { paths, components } = documentOnTheWire;
const ajv = new Ajv2020({ strict: false, allErrors: true });
/** Clients may get fields that the document does not know yet; these tests may not. */
const { Pet, Error } = components.schemas;
const closed = (schema: object) => ({ ...schema, additionalProperties: false });
const schemas = { ...components.schemas, Pet: closed(Pet), Error: closed(Error) };
ajv.addSchema({ ...documentOnTheWire, components: { ...components, schemas } }, "openapi.json");
/** Reads headers as the types of their schemas. */
const ajvForHeaders = new Ajv2020({ strict: false, allErrors: true, coerceTypes: true });
for (const each of [ajv, ajvForHeaders]) formats.default(each);

/** Returns the errors in a value of a schema of the document; `""` if there is none. */
function errorsIn(schema: object, value: unknown): string {
  const absolute = JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/');
  return ajv.validate(JSON.parse(absolute) as AnySchema, value) ? "" : ajv.errorsText();
}

type Header = Readonly<{ required: boolean; schema: object }>;
interface Declared {
  readonly headers: Readonly<Record<string, { readonly $ref: string } | Header>>;
  readonly content?: Readonly<
    Record<string, { readonly schema: object; readonly examples?: object }>
  >;
}

export function responsesOf(operation: Operation): Readonly<Record<string, Declared>> {
  const [method = "", path = ""] = operation.split(" ");
  return paths[path as "/pets"][method.toLowerCase() as "get"].responses;
}

/** Returns each difference between a response and the document's declaration of the operation; `""` if there is none. */
export function undeclared(operation: Operation, response: WireResponse): string {
  const declared = responsesOf(operation)[response.status];
  return declared ? differences(declared, response) : `${response.status} is not declared`;
}

/** Returns in what a response to a request for no operation is not an Error with the usual headers. */
export function undeclaredElsewhere(response: WireResponse): string {
  const { headers = {} } = paths["/pets"].get.responses["400"] ?? {};
  const schema = { $ref: "#/components/schemas/Error" };
  const allow = { required: false, schema: { enum: Object.keys(paths).map(methodsOf) } };
  const content = { "application/json": { schema } };
  return differences({ headers: { ...headers, Allow: allow }, content }, response);
}

const OF_TRANSPORT = ["content-length", "date", "connection", "keep-alive"];

function differences({ headers, content }: Declared, response: WireResponse): string {
  const { "content-type": type, ...others } = response.headers;
  const own = Object.entries(others).filter(([name]) => !OF_TRANSPORT.includes(name));
  const declared = Object.entries(headers).map(([name, header]): [string, Header] => [
    name.toLowerCase(),
    "$ref" in header ? at(header.$ref) : header,
  ]);
  const schema = {
    properties: Object.fromEntries(declared.map(([name, { schema }]) => [name, schema])),
    required: declared.flatMap(([name, { required }]) => (required ? [name] : [])),
    additionalProperties: false,
  };
  if (!ajvForHeaders.validate(schema, Object.fromEntries(own))) return ajvForHeaders.errorsText();
  const json = content?.["application/json"];
  if (json === undefined) return response.body;
  return type === "application/json" ? errorsIn(json.schema, JSON.parse(response.body)) : `${type}`;
}

function at(reference: string): Header {
  const name = reference.replace("#/components/headers/", "");
  return components.headers[name as keyof typeof components.headers];
}
