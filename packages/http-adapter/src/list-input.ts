import { parseInt64 } from "@petstore/core";

type Text = string | readonly string[] | undefined;

/**
 * What the list parameters say, left for the engine to judge: a value in its own type where the
 * text spells one, the text where it does not, all the texts where a parameter is repeated.
 */
export interface ListInput {
  readonly limit: number | Text;
  readonly status: Text;
  readonly after: bigint | Text;
}

const NOTHING_ASKED: ListInput = Object.freeze({
  limit: undefined,
  status: undefined,
  after: undefined,
});

/** Reads the raw query of GET /pets (specification, "GET /pets"); other parameters are ignored. */
export function readListInput(query: string): ListInput {
  if (query === "") return NOTHING_ASKED;
  const parameters = new URLSearchParams(query);
  return {
    limit: toNumber(textOf(parameters, "limit")),
    status: textOf(parameters, "status"),
    after: toId(textOf(parameters, "after")),
  };
}

/**
 * The reference to the next page: only a query, so that it is right behind any mount and any proxy
 * (RFC 3986, section 5.3), with what the client asked for.
 */
export function nextReference({ limit, status }: ListInput, after: bigint): string {
  const limitPart = typeof limit === "number" ? `limit=${limit}&` : "";
  const statusPart = typeof status === "string" ? `status=${status}&` : "";
  return `?${limitPart}${statusPart}after=${after}`;
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
