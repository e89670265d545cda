import { createServer, type ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import { expect, test } from "vitest";
import { listen } from "./support/stores.js";

const BODY = Buffer.from('[{"id":1,"name":"🐈","categoryId":9223372036854775807,"status":"sold"}]');

/** The ways to cut a body: in two at each place, or into single bytes. */
const cuts: readonly (readonly Buffer[])[] = [
  Array.from(BODY, (byte) => Buffer.of(byte)),
  ...Array.from(BODY, (_, at) => [BODY.subarray(0, at), BODY.subarray(at)]),
];

const COMMON = {
  "Content-Type": "application/json",
  "X-RateLimit-Limit": 60,
  "X-RateLimit-Remaining": 59,
  "X-RateLimit-Reset": 1,
};

async function send(response: ServerResponse, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces.slice(0, -1)) {
    response.write(piece);
    await setImmediate();
  }
  // The last piece and the end arrive together.
  response.end(pieces.at(-1));
}

test.each([
  ["a length", { "Content-Length": BODY.length }],
  ["chunks", {}],
])("a response with %s is read whole, wherever it is cut", async (_, headers) => {
  let pieces: readonly Buffer[] = [];
  const server = createServer(
    (_request, response) => void send(response.writeHead(200, { ...COMMON, ...headers }), pieces),
  );
  const client = createPetsClient({ baseUrl: `${await listen(server)}/v1`, apiKey: "key" });
  for (pieces of cuts) {
    const listed = await client.listPets();
    expect(listed._unsafeUnwrap().pets).toEqual([
      { id: 1n, name: "🐈", categoryId: 9223372036854775807n, status: "sold" },
    ]);
  }
});
