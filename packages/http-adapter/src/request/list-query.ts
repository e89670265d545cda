import { PAGE_LIMIT, parseInt64, type ListPetsInput } from "@petstore/core";
import { keysOf } from "@petstore/core/facts";
import type { OpenAPIV3_1 } from "openapi-types";
import { EXACT, int64 } from "../openapi/components.js";

type Text = string | readonly string[] | undefined;
type Value = bigint | number | Text;

/** How a parameter is read: as a number or an int64 if the text is one (the engine validates it), and its documentation. */
type Parameter = { readonly read: (text: Text) => Value } & Described;
type Described = Pick<OpenAPIV3_1.ParameterObject, "description" | "schema">;

export const listParameters = {
  limit: {
    read: (text) => (typeof text === "string" && /^\d+$/.test(text) ? Number(text) : text),
    description:
      "The maximum number of pets on the page, in decimal digits. A page of about 1 MiB ends earlier; if more pets follow, it has a `Link`.",
    schema: { type: "integer", ...PAGE_LIMIT },
  },
  status: {
    read: (text) => text,
    description: "Returns only pets with this status.",
    schema: { $ref: "#/components/schemas/PetStatus" },
  },
  after: {
    read: (text) => (typeof text === "string" ? (parseInt64(text) ?? text) : text),
    description: `Returns only pets with a greater id: the last one of the page before, as in its \`Link\`. ${EXACT}`,
    schema: int64,
  },
} satisfies Record<keyof ListPetsInput, Parameter>;

const names = keysOf(listParameters);

type ListQuery = Partial<Record<keyof ListPetsInput, Value>>;

/** Reads the raw query of GET /pets (specification, "GET /pets"); other parameters are ignored. */
export function readListQuery(query: string): ListQuery {
  const sent = new URLSearchParams(query);
  const read: ListQuery = {};
  for (const name of names) {
    const texts = sent.getAll(name);
    if (texts.length > 0)
      read[name] = listParameters[name].read(texts.length > 1 ? texts : texts[0]);
  }
  return read;
}

/** Returns the `Link` to the page after this id: only a query, which also works behind a proxy (RFC 3986, 5.3). */
export function nextLink(query: ListQuery, after: bigint): string {
  let filters = "";
  for (const name of names) {
    if (name !== "after" && query[name] !== undefined) filters += `${name}=${String(query[name])}&`;
  }
  return `<?${filters}after=${after}>; rel="next"`;
}
