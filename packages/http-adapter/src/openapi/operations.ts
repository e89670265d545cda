import type { NewPetInput } from "@petstore/core";
import { operations, type OperationFacts, type OperationName } from "@petstore/core/facts";
import type { OpenAPIV3_1 } from "openapi-types";
import { errorCodes, errors, statusOf, type ErrorCode } from "../error.js";
import { listParameters } from "../request/list-query.js";
import { operationNames } from "../request/route.js";
import { deprecationHeaders } from "../response/render.js";
import { EXACT, int64, type headers } from "./components.js";

/** The headers of every response (specification, "Rate limit headers"); three of them only if they are configured. */
const commonHeaders = headersNamed(
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Cache-Control",
  "X-Content-Type-Options",
  "X-Request-Id",
  "RateLimit",
  "RateLimit-Policy",
);

const headersOfStatus: Readonly<Record<number, Headers>> = {
  401: headersNamed("WWW-Authenticate"),
  415: headersNamed("Accept", "Accept-Encoding"),
  429: headersNamed("Retry-After"),
  503: headersNamed("Retry-After"),
};

const NEW_PET = {
  name: "Rex",
  categoryId: 7,
  status: "available",
} satisfies Record<keyof NewPetInput, unknown>;
const PET = { id: 1, ...NEW_PET };

const listPets = operation("listPets", {
  summary: "List pets",
  description: "Returns a page of pets in ascending order of id.",
  parameters: Object.entries(listParameters).map(([name, { description, schema }]) => {
    return { name, in: "query", required: false, description, schema };
  }),
  responses: responsesOf("listPets", {
    description: "A page of pets.",
    headers: { Link: { $ref: "#/components/headers/NextPage" } },
    content: contentOf(
      { $ref: "#/components/schemas/Pets" },
      { some: [PET, { id: 2, name: "Tom", categoryId: 8, status: "sold" }], none: [] },
    ),
  }),
});

const createPet = operation("createPet", {
  summary: "Create a pet",
  description: "Creates a new pet. A pet is stored durably before the server responds with 201.",
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      // Without an `example`: the docs page would send it with each pet.
      description:
        "Makes the request safe to repeat: 1 to 255 visible ASCII characters, quoted (RFC 9651) or bare, and new " +
        'for each pet, such as `"8e03978e-40d5-43dd-bc93-6894a57f9324"`. ' +
        "A request with a key that was used before, with the same pet, gets the same response and " +
        "creates nothing. Keys are remembered for 24 hours unless the service is configured otherwise.",
      required: false,
      // Each character may be escaped, and the quotes come on top.
      schema: { type: "string", minLength: 1, maxLength: 512, pattern: "^[!-~]+$" },
    },
  ],
  requestBody: {
    description:
      "The pet, as JSON in UTF-8 of at most 65,536 bytes unless the service is configured otherwise.",
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/NewPet" },
        examples: {
          full: { value: NEW_PET },
          minimal: { value: { name: "Tom", categoryId: 8 } },
        },
      },
    },
  },
  responses: responsesOf("createPet", {
    description: "The created pet.",
    headers: headersNamed("Location", "Idempotent-Replayed"),
    content: contentOf({ $ref: "#/components/schemas/Pet" }, { created: PET }),
  }),
});

const getPet = operation("getPet", {
  summary: "Fetch a pet",
  description:
    "Returns the pet with this id. Use `GET /pets` instead: with a `status` filter, or for one pet with `limit=1` " +
    "and its id − 1 as `after`.",
  parameters: [
    {
      name: "petId",
      in: "path",
      description: `The id of the pet to return, in canonical decimal form. ${EXACT}`,
      required: true,
      schema: int64,
      example: 1,
    },
  ],
  responses: responsesOf("getPet", {
    description: "The pet.",
    headers: {},
    content: contentOf({ $ref: "#/components/schemas/Pet" }, { found: PET }),
  }),
});

function operation<
  const Parts extends { description: string; responses: Responses } & OpenAPIV3_1.OperationObject,
>(name: OperationName, parts: Parts) {
  const { deprecation }: OperationFacts = operations[name];
  return {
    operationId: name,
    tags: ["pets"],
    ...parts,
    ...(deprecation && {
      deprecated: true,
      description: `${parts.description} **Deprecated: to be removed on ${deprecation.removal}.**`,
    }),
  };
}

/** `HEAD` beside this `GET`: the same headers and no body (RFC 9110, section 9.3.2). */
function headOf<Get extends ReturnType<typeof operation>>(get: Get) {
  const bodiless = Object.entries(get.responses).map(([status, { description, headers }]) => {
    return [status, { description, headers }] as const;
  });
  const responses: Responses = Object.fromEntries(bodiless);
  return {
    ...get,
    operationId: get.operationId.replace(/^[a-z]+/, "head"),
    summary: `${get.summary}: headers only`,
    description: `Responds with the headers of GET, without a body. ${get.description}`,
    responses,
  };
}

type Operation = (typeof operations)[OperationName];

type Paths = {
  [Path in Operation["path"]]: {
    [
      Method in Extract<Operation, { path: Path }>["method"] as
        Lowercase<Method> | (Method extends "GET" ? "head" : never)
    ]: object;
  };
};

export const paths = {
  "/pets": { get: listPets, head: headOf(listPets), post: createPet },
  "/pets/{petId}": { get: getPet, head: headOf(getPet) },
} satisfies Paths;

type Responses = Readonly<Record<string, Response>>;

/** A response (OpenAPI 3.1, "Response Object"). A response to HEAD has no content. */
export interface Response {
  readonly description: string;
  readonly headers: Headers;
  readonly content?: ReturnType<typeof contentOf>;
}

type Headers = Readonly<
  Record<string, { $ref: string } | { description: string; required: boolean; schema: object }>
>;

/** The responses of an operation: its success, and every error that it may have. */
function responsesOf(name: OperationName, success: Response): Responses {
  const facts: OperationFacts = operations[name];
  const headers = { ...commonHeaders, ...success.headers, ...deprecationOf(name, true) };
  const codes = errorCodes.filter((code) => isErrorOf(facts, code));
  const failures = [...new Set(codes.map(statusOf))].map((status) => {
    const ofStatus = codes.filter((code) => statusOf(code) === status);
    return [status, errorResponse(name, status, ofStatus)] as const;
  });
  return Object.fromEntries([[facts.success, { ...success, headers }], ...failures]);
}

function isErrorOf({ method, errors: own }: OperationFacts, code: ErrorCode): boolean {
  const { place } = errors[code];
  if (place === "body") return method !== "GET" && method !== "DELETE";
  if (place !== undefined) return place !== "no operation";
  return code in own || !operationNames.some((name) => code in operations[name].errors);
}

function errorResponse(name: OperationName, status: number, codes: readonly ErrorCode[]): Response {
  const allOf = [
    { $ref: "#/components/schemas/Error" },
    {
      type: "object",
      properties: {
        code: { type: "string", enum: codes },
        status: { type: "integer", enum: [status] },
      },
    },
  ];
  const bodies = codes.map((code) => {
    const { message } = errors[code].example;
    return [code, { code, message, status }] as const;
  });
  const occasions = codes.map((code) => errors[code].occasion ?? errors[code].example.message);
  const deprecations = deprecationOf(name, !codes.some((code) => errors[code].place === "message"));
  return {
    description: occasions.join(" Or: "),
    headers: { ...commonHeaders, ...headersOfStatus[status], ...deprecations },
    content: contentOf({ allOf }, Object.fromEntries(bodies)),
  };
}

function deprecationOf(name: OperationName, required: boolean): Headers {
  const descriptions: Readonly<Record<string, string>> = {
    Deprecation: "When the operation was deprecated (RFC 9745).",
    Sunset: "When the operation will be removed (RFC 8594).",
    Link: "The replacement of the operation (RFC 5829).",
  };
  const named = Object.entries(deprecationHeaders(name)).map(([header, value]) => {
    const schema = { type: "string", enum: [value] };
    return [header, { description: descriptions[header] ?? "", required, schema }] as const;
  });
  return Object.fromEntries(named);
}

function contentOf(schema: object, examples: Readonly<Record<string, unknown>>) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return { "application/json": { schema, examples: Object.fromEntries(named) } };
}

function headersNamed(...names: readonly (keyof typeof headers)[]): Headers {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
