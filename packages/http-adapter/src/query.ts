import { parseInt64 } from "@petstore/core";

type Text = string | readonly string[] | undefined;

/**
 * The list parameters, for the engine to judge: a value in its own type if the text spells one,
 * else the text, or all texts if a parameter is repeated.
 */
export interface ListQuery {
  readonly limit: number | Text;
  readonly status: Text;
  readonly after: bigint | Text;
}

/** Reads the raw query of GET /pets (specification, "GET /pets"); other parameters are ignored. */
export function readListQuery(query: string): ListQuery {
  const parameters = new URLSearchParams(query);
  return {
    limit: toNumber(textOf(parameters, "limit")),
    status: textOf(parameters, "status"),
    after: toId(textOf(parameters, "after")),
  };
}

/**
 * The value of `Link` for the next page: a query-only reference, so that it is right behind any
 * mount and any proxy (RFC 3986, section 5.3), with the client's own limit and status.
 */
export function nextLink({ limit, status }: ListQuery, after: bigint): string {
  const limitPart = typeof limit === "number" ? `limit=${limit}&` : "";
  const statusPart = typeof status === "string" ? `status=${status}&` : "";
  return `<?${limitPart}${statusPart}after=${after}>; rel="next"`;
}

function textOf(parameters: URLSearchParams, name: string): Text {
  const values = parameters.getAll(name);
  return values.length > 1 ? values : values[0];
}

function toNumber(text: Text): number | Text {
  return typeof text === "string" && /^\d+$/.test(text) ? Number(text) : text;
}

function toId(text: Text): bigint | Text {
  return typeof text === "string" ? (parseInt64(text) ?? text) : text;
}
