import type { Failure } from "../status.js";

/** A JSON value. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, Json>>;

/** Points at another part of the document. */
export interface Reference {
  readonly $ref: string;
}

/** A header of an answer (OpenAPI 3.1, "Header Object"). */
export interface Header {
  readonly description: string;
  /** Whether it is on every answer that lists it. */
  readonly required: boolean;
  readonly schema: Schema;
}

/** A body as JSON (OpenAPI 3.1, "Media Type Object"). */
export interface Content {
  readonly "application/json": {
    readonly schema: Schema;
    readonly examples: Readonly<Record<string, { readonly value: Json }>>;
  };
}

/** An answer (OpenAPI 3.1, "Response Object"). */
export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference | Header>>;
  /** Left out where there is no body: in answers to HEAD. */
  readonly content?: Content;
}

/** Answers by status. */
export type Responses = Readonly<Record<string, Response>>;

/** A parameter (OpenAPI 3.1, "Parameter Object"). */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** An operation on a path (OpenAPI 3.1, "Operation Object"). */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Reference[];
  readonly requestBody?: {
    readonly description: string;
    readonly required: boolean;
    readonly content: Content;
  };
  readonly responses: Responses;
}

/** What a path answers, by method (OpenAPI 3.1, "Path Item Object"). */
export interface ReadablePath {
  readonly get: Operation;
  readonly head: Operation;
}

/** The interface of the service (OpenAPI 3.1, "OpenAPI Object"). */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  /** Where the paths begin, relative to where the document is read from. */
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: {
    readonly "/pets": ReadablePath & { readonly post: Operation };
    readonly "/pets/{petId}": ReadablePath;
  };
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, Header>>;
    /** What is answered to no operation: where nothing is, or nothing for this method. */
    readonly responses: Readonly<Partial<Record<Failure["code"], Response>>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}
