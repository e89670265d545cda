import type { Operation, ReadablePath } from "../document.js";
import { HEADERS_OF_GET_PET } from "../headers.js";
import { parameterReferences } from "../parameters.js";
import { errorResponses, json, response, withoutBodies } from "../responses.js";
import { schema } from "../schemas.js";

/** GET /pets/{petId} (specification, "GET /pets/{petId}"), and HEAD. */
export function getPetOperations(): ReadablePath {
  const get = getPet();
  return {
    get,
    head: {
      ...get,
      operationId: "headPet",
      summary: "The headers of one animal, without the animal",
      description:
        "Answers every header that GET answers, and no body. " +
        "**Deprecated: to be removed on 5 December 2030.**",
      responses: withoutBodies(get.responses),
    },
  };
}

function getPet(): Operation {
  return {
    operationId: "getPet",
    summary: "Fetch one animal",
    description:
      "Returns one animal by identifier. **Deprecated: to be removed on 5 December 2030.** " +
      "`GET /pets` with a `status` filter replaces it.",
    tags: ["pets"],
    deprecated: true,
    parameters: parameterReferences("petId"),
    responses: {
      "200": response(
        "The animal.",
        json(schema("Pet"), { found: { id: 1, name: "Rex", categoryId: 7, status: "available" } }),
        ...HEADERS_OF_GET_PET,
      ),
      ...errorResponses("getPet", ...HEADERS_OF_GET_PET),
    },
  };
}
