import type { Call } from "../support/serve.js";
import type { WireResponse } from "../support/wire.js";

/** Hands a call to a WHATWG handler, and reads its response as one that came over the wire. */
export async function fetchResponse(
  handle: (request: Request) => Promise<Response>,
  { method = "GET", path = "", headers = [], body, key }: Call,
): Promise<WireResponse> {
  const fields = new Headers(
    headers.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  if (typeof key === "string") fields.set("Authorization", `Bearer ${key}`);
  const request = new Request(new URL(`http://pets.test${path}`), {
    method,
    headers: fields,
    // As bytes: a string would declare itself text/plain.
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
  const response = await handle(request);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
