import type { Operation } from "../document.js";
import { errorResponses, json, response } from "../responses.js";
import { schema } from "../schemas.js";

/** POST /pets (specification, "POST /pets"). */
export function createPetOperation(): Operation {
  return {
    operationId: "createPet",
    summary: "Add an animal",
    description: "Adds a new animal. Once this has answered 201, the animal is kept.",
    tags: ["pets"],
    requestBody: {
      description:
        "The animal, as JSON in UTF-8 of at most 65,536 bytes unless the host says otherwise.",
      required: true,
      content: json(schema("NewPet"), {
        full: { name: "Rex", categoryId: 7, status: "available" },
        least: { name: "Tom", categoryId: 8 },
      }),
    },
    responses: {
      "201": response(
        "The created animal.",
        json(schema("Pet"), {
          created: { id: 1, name: "Rex", categoryId: 7, status: "available" },
        }),
        "Location",
      ),
      ...errorResponses("createPet"),
    },
  };
}
