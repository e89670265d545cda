/** Rows of the conformance table that do not hold on a server in Bun or Deno. */
export interface Difference {
  /** The names of the rows. */
  readonly rows: RegExp;
  /** What happens there; docs/embedding.md says it too. */
  readonly reason: string;
  /** The status of the first response, or `closed` if the connection is closed without a response. */
  readonly first: number | "closed";
}

/** Of `examples/bun.ts`. */
export const bunServe: readonly Difference[] = [
  { rows: /^the version HTTP\/|^HTTP\/0\.9/, reason: "Bun refuses the version", first: 505 },
  { rows: /^empty lines before/, reason: "Bun refuses empty lines", first: 400 },
  { rows: /^a trailer$/, reason: "Bun refuses trailers", first: 400 },
  { rows: /^a declared length of 2\^6/, reason: "Bun refuses the length", first: 400 },
  { rows: /^Transfer-Encoding in HTTP\/1\.0$/, reason: "Bun refuses the coding", first: 400 },
  {
    rows: / at once$|^a GET with a body, then another$/,
    reason: "Bun closes the connection when a request follows before the response is sent",
    first: "closed",
  },
  {
    rows: /^two (?:different )?Hosts$|^a Host of (?!.* is one$)/,
    reason: "the connection stays open",
    first: 400,
  },
  {
    rows: /^chunks beyond the limit$|^a declared length of one|the length comes first$/,
    reason: "the connection stays open",
    first: 413,
  },
  { rows: /^what follows a refused chunked/, reason: "the connection stays open", first: 405 },
  { rows: /^Upgrade to h2c/, reason: "the connection stays open", first: 201 },
  { rows: /^Connection: close$/, reason: "no Connection header is sent", first: 200 },
  { rows: /^Upgrade to a WebSocket/, reason: "the connection stays open", first: 200 },
  { rows: /^\/v1\/(?:\.|%2e)/, reason: "the URL of a Request is normalised", first: 200 },
  { rows: /^\/v1\/pets#x/, reason: "the URL of a Request has a fragment", first: 200 },
  { rows: /^\/v1\/pets\\1/, reason: "the URL of a Request is normalised", first: 404 },
  { rows: /^the base path alone/, reason: "the example's route begins behind it", first: 200 },
];

/** Of `examples/deno.ts`. */
export const denoServe: readonly Difference[] = [
  { rows: /^the version HTTP\/|^HTTP\/0\.9/, reason: "Deno refuses the version", first: 400 },
  { rows: /^two (?:different )?Hosts$/, reason: "Deno refuses two Hosts", first: 400 },
  { rows: /^Transfer-Encoding in HTTP\/1\.0$/, reason: "Deno refuses the coding", first: 400 },
  { rows: /^Upgrade to h2c/, reason: "Deno refuses the upgrade of a POST", first: 400 },
  { rows: /^a Host of u@a$/, reason: "the connection stays open", first: 400 },
  {
    rows: /^a Host of (?!u@a$|.* is one$)/,
    reason: "the Host becomes a part of the URL, which is then not below the base path",
    first: 200,
  },
  { rows: /^chunks beyond the limit$/, reason: "the connection stays open", first: 413 },
  {
    rows: /^a declared length|the length comes first$/,
    reason: "the client has to close",
    first: 413,
  },
  { rows: /^what follows a refused chunked/, reason: "the client has to close", first: 405 },
  { rows: /^Upgrade to a WebSocket/, reason: "the connection stays open", first: 200 },
  { rows: /^\/v1\/pets#x/, reason: "the URL of a Request has a fragment", first: 200 },
  { rows: /^the base path alone/, reason: "the example's pattern begins behind it", first: 200 },
];

/** Of `createPetStoreServer` in Bun. */
export const bunNode: readonly Difference[] = [
  { rows: /^a method of 20,000 bytes$/, reason: "Bun limits the line first", first: 431 },
  { rows: /^(?:OPTIONS|GET) \*$|^ftp:/, reason: "Bun refuses the target", first: 400 },
  { rows: /^a declared length of 2\^6/, reason: "Bun refuses the length", first: 400 },
  { rows: /^the same Content-Length twice$/, reason: "Bun accepts equal lengths", first: 201 },
];

const UNNOTICED = "a client that closes only its side is not noticed";

/** Of `createPetStoreServer` in Deno. */
export const denoNode: readonly Difference[] = [
  { rows: /cut short$/, reason: UNNOTICED, first: "closed" },
  { rows: /^a (?:chunked )?body that ends early$/, reason: UNNOTICED, first: 408 },
  {
    rows: /^a chunk extension of 20,000 bytes$/,
    reason: "the extension is waited for",
    first: 408,
  },
];
