import { deepFreeze } from "./deep-freeze.js";
import { DESCRIPTION } from "./description.js";
import type { OpenApiDocument } from "./document.js";
import { headers } from "./headers.js";
import { createPetOperation } from "./operations/create-pet.js";
import { getPetOperations } from "./operations/get-pet.js";
import { listPetsOperations } from "./operations/list-pets.js";
import { parameters } from "./parameters.js";
import { responsesElsewhere } from "./responses.js";
import { schemas } from "./schemas.js";

/**
 * The interface of the service as an OpenAPI 3.1 document, true to what the adapter answers; frozen.
 * Its server is `/v1`; a store that is mounted elsewhere has
 * `{ ...openApiDocument, servers: [{ url: "/api/v1", description: "…" }] }`.
 *
 * Write it with `encodeOpenApiDocument`: in memory the largest int64 is rounded to 2^63, as every
 * number is, and so is every JSON that `JSON.parse` reads.
 */
export const openApiDocument: OpenApiDocument = Object.freeze({
  ...deepFreeze<Preface>({
    openapi: "3.1.0",
    info: {
      title: "Pet Store",
      version: "1.0.0",
      summary: "An inventory of animals: list them, add one, fetch one.",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/v1", description: "The server that this document comes from" }],
    tags: [{ name: "pets", description: "The inventory, one for all API keys" }],
    security: [{ apiKey: [] }],
  }),
  get paths() {
    return parts().paths;
  },
  get components() {
    return parts().components;
  },
});

type Parts = Pick<OpenApiDocument, "paths" | "components">;
type Preface = Omit<OpenApiDocument, keyof Parts>;

/** Made when first read: few processes ever do, and all of them would start later. */
const parts = once(() => deepFreeze({ paths: paths(), components: components() }));

function paths(): Parts["paths"] {
  const { get, head } = listPetsOperations();
  return {
    "/pets": { get, post: createPetOperation(), head },
    "/pets/{petId}": getPetOperations(),
  };
}

function components(): Parts["components"] {
  return {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "pet_live_…",
        description:
          "Your API key: `pet_live_` and 36 letters and digits. Whoever runs the service issues it.",
      },
    },
    parameters,
    headers,
    responses: responsesElsewhere(),
    schemas: schemas(),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
