import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import { compose, type Call } from "./serve.js";
import type { Wire } from "./wire.js";

/** In chunks or not, and how many turns of the event loop pass before each piece; with 0, all are sent in one segment. */
const deliveries = [true, false].flatMap((isChunked) =>
  [0, 1, 6].map((turns) => ({ isChunked, turns })),
);

export const petNamed = (name: string): Buffer =>
  Buffer.from(JSON.stringify({ name, categoryId: 7 }));

/** The ways to cut a body: in two at every `stride`-th place, into single bytes, or not at all. */
export function cutsAtEvery(stride: number): readonly ((body: Buffer) => readonly Buffer[])[] {
  const places = Array.from({ length: petNamed("ü").length - 1 }, (_, index) => index + 1);
  return [
    (body) => [body],
    (body) => Array.from(body, (byte) => Buffer.from([byte])),
    ...places
      .filter((_, index) => index % stride === 0)
      .map((place) => (body: Buffer) => [body.subarray(0, place), body.subarray(place)]),
  ];
}

/** Posts pets that are cut in each of these ways. Resolves to the names of those that nothing is behind. */
export async function postCutPets(
  wire: Wire,
  head: Call,
  cuts: ReturnType<typeof cutsAtEvery>,
): Promise<readonly string[]> {
  wire.socket.setNoDelay();
  const names: string[] = [];
  for (const delivery of deliveries) {
    const post = async (pieces: readonly Buffer[], status: number): Promise<void> => {
      const segments = segmentsOf({ ...head, method: "POST" }, pieces, delivery.isChunked);
      for (const segment of delivery.turns === 0 ? [Buffer.concat(segments)] : segments) {
        for (let turn = 0; turn < delivery.turns; turn += 1) await setImmediate();
        wire.send(segment);
      }
      const found = { ...delivery, pieces: pieces.map(String), ...(await wire.response()) };
      expect(found).toMatchObject({ status });
    };
    for (const cut of cuts) {
      const name = `${names.length} ü`;
      await post(cut(petNamed(name)), 201);
      names.push(name);
    }
    for (const rest of [["x"], ["\n{}"], [" ", "x"]])
      await post([petNamed("x"), ...rest.map((text) => Buffer.from(text))], 400);
  }
  wire.socket.destroy();
  return names;
}

/** The head and the pieces of a request, each piece a chunk or a part of a body with its length. */
function segmentsOf(head: Call, pieces: readonly Buffer[], isChunked: boolean): readonly Buffer[] {
  const length = Buffer.concat(pieces).length;
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const first = Buffer.from(
    compose({ ...head, headers: [framing, "Content-Type: application/json"] }),
  );
  if (!isChunked) return [first, ...pieces];
  return [first, ...pieces.map(chunkOf), Buffer.from("0\r\n\r\n")];
}

const chunkOf = (piece: Buffer): Buffer =>
  Buffer.from(`${piece.length.toString(16)}\r\n${piece.toString("latin1")}\r\n`, "latin1");
