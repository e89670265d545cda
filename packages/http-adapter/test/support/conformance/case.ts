import { PET } from "../serve.js";

/** The expectations of one response; headers are by lower-case name. A text stands for itself. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  readonly body?: string | RegExp;
}

interface Outcome {
  /** The responses, in order. A server may close the connection after them, not before. */
  readonly responses: readonly Expected[];
  /** Whether the server closes the connection after the last response; left open when left out. */
  readonly closes?: boolean;
  /** Whether the client closes its side after the request. */
  readonly ends?: boolean;
  /** Holds only where the store owns the server: on a host's own, Node or the host responds. */
  readonly ownServerOnly?: boolean;
}

/** The section of the specification or of the RFC that says so; a name; and the request, each UTF-16 unit one byte. */
export type Row = readonly [source: string, name: string, request: string];

/** One row of the suite. In its request, `{key}` stands for a valid API key. */
export interface ConformanceCase extends Outcome {
  readonly name: string;
  readonly source: string;
  readonly request: string;
}

export const rows = (outcome: Outcome, table: readonly Row[]): readonly ConformanceCase[] =>
  table.map(([source, name, request]) => ({ name, source, request, ...outcome }));

/** Returns rows of one source that differ in one text: in the name, where `%s` stands, and in the request. */
export const each = (
  source: string,
  name: string,
  texts: readonly string[],
  request: (text: string) => string,
): readonly Row[] => texts.map((text) => [source, name.replace("%s", () => text), request(text)]);

export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
export const AUTH = "Authorization: Bearer {key}\r\n";

/** The head of a request with Host and key, and these lines. */
export function head(requestLine: string, ...lines: readonly string[]): string {
  const first = [`${requestLine} HTTP/1.1`, "Host: pets.test", "Authorization: Bearer {key}"];
  return [...first, ...lines, "\r\n"].join("\r\n");
}

export const get = (...lines: readonly string[]): string => head("GET /v1/pets", ...lines);
export const postHead = (...lines: readonly string[]): string => head("POST /v1/pets", ...lines);

export const post = (body: string, ...lines: readonly string[]): string =>
  postHead(`Content-Length: ${body.length}`, ...lines) + body;

export const chunked = (bytes: string, ...lines: readonly string[]): string =>
  postHead("Transfer-Encoding: chunked", ...lines) + bytes;

export const PET_CHUNKED = "1d\r\n" + PET + "\r\n0\r\n\r\n";
export const list: Outcome = { responses: [{ status: 200, body: /^\[.*\]$/s }] };
export const created: Outcome = { responses: [{ status: 201 }] };

export const error = (
  status: number,
  code: string,
  headers: Expected["headers"] = {},
): Outcome => ({ responses: [{ status, code, headers }] });

export const closing = (status: number, code: string): Outcome => ({
  ...error(status, code, { connection: "close" }),
  closes: true,
});

export const own = (outcome: Outcome): Outcome => ({ ...outcome, ownServerOnly: true });

/** The refusals of a message, by the store and by Node's parser. */
export const badRequest = closing(400, "bad_request");
export const refusedByNode = own(badRequest);
