import { standardPlans, type Plan } from "@petstore/core";
import { limitOf, limitsIn } from "@petstore/core/facts";
import { deepFrozen } from "@petstore/core/internal";
import type { OpenAPIV3_1 } from "openapi-types";
import { headers, schemas } from "./components.js";
import { paths } from "./operations.js";

const description = `### Your API key

Every request carries an API key as a bearer token: \`Authorization: Bearer <API_KEY>\`. The operator of
the service issues it, and it is shown only once:

\`\`\`sh
petstore keys issue --plan free --label "my key"
\`\`\`

To send requests from a page that shows this document, press **Authorize** and paste the key.

### Limits

${plansTable()}

Every response says how many requests are left, in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\`. After a 429, wait for the number of seconds in \`Retry-After\`. A key that keeps
sending requests is banned for a while.

### Numbers

Ids are int64 and exact. Beyond 2^53, read and write them with a JSON library that does not round.

### Other requests

Another path gets 404 with the code \`not_found\`. Another method gets 405 with the code
\`method_not_allowed\` and the header \`Allow\`. Both have an Error body and the headers of every response.
`;

function plansTable(): string {
  const columns = limitsIn(standardPlans.free).map(([window]) => window);
  const rows = Object.entries<Plan>(standardPlans).map(([name, plan]) => {
    const limits = columns.map((window) =>
      plan === "custom" ? plan : limitOf(plan, window).toLocaleString("en-US"),
    );
    return [name, ...limits];
  });
  const head = ["Plan", ...columns.map((window) => `Requests per ${window}`)];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const document = {
  openapi: "3.1.0",
  info: {
    title: "Pet Store",
    version: "1.0.0",
    summary: "An inventory of pets, with API keys and limits.",
    description,
    // A host that knows better sets its own; linters ask for one.
    contact: { name: "The operator of this service" },
    license: { name: "MIT", identifier: "MIT" },
  },
  // Relative to the document, so that it is right behind a proxy that strips a prefix.
  servers: [{ url: "v1", description: "The server of this document" }],
  tags: [{ name: "pets", description: "The inventory, shared by all API keys" }],
  security: [{ apiKey: [] }],
  paths,
  components: {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "pet_live_…",
        description:
          "Your API key: `pet_live_` and 36 letters and digits, issued by the operator of the service.",
      },
    },
    headers,
    schemas,
  },
} satisfies OpenAPIV3_1.Document;

/** The type of `openApiDocument`: OpenAPI 3.1, deeply readonly. */
export type OpenApiDocument = Frozen<typeof document>;

type Frozen<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
  : Value;

/**
 * The HTTP interface of the store as an OpenAPI 3.1 document, deeply frozen. Its server is `v1`, beside the
 * document. For a store that is mounted elsewhere, copy it:
 * `{ ...openApiDocument, servers: [{ url: "/api/v1", description: "…" }] }`.
 */
export const openApiDocument: OpenApiDocument = deepFrozen(document);
