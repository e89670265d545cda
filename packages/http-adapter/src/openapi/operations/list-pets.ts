import type { Operation, ReadablePath } from "../document.js";
import { parameterReferences } from "../parameters.js";
import { errorResponses, json, response, withoutBodies } from "../responses.js";
import { schema } from "../schemas.js";

/** GET /pets (specification, "GET /pets"), and HEAD. */
export function listPetsOperations(): ReadablePath {
  const get = listPets();
  return {
    get,
    head: {
      ...get,
      operationId: "headPets",
      summary: "The headers of a list, without the list",
      description: "Answers every header that GET answers, and no body.",
      responses: withoutBodies(get.responses),
    },
  };
}

function listPets(): Operation {
  return {
    operationId: "listPets",
    summary: "List animals",
    description: "Returns a page of animals in ascending order of id.",
    tags: ["pets"],
    parameters: parameterReferences("limit", "status", "after"),
    responses: {
      "200": response(
        "A page of animals.",
        json(schema("Pets"), {
          some: [
            { id: 1, name: "Rex", categoryId: 7, status: "available" },
            { id: 2, name: "Tom", categoryId: 8, status: "sold" },
          ],
          none: [],
        }),
        "next.Link",
      ),
      ...errorResponses("listPets"),
    },
  };
}
