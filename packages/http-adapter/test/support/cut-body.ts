import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import { compose } from "./serve.js";
import type { Wire } from "./wire.js";

/** How the pieces of a body are sent. */
interface Delivery {
  /** Whether each piece is a chunk; otherwise, the body has a Content-Length. */
  readonly isChunked: boolean;
  /** How many turns of the event loop pass before each piece; with 0, all are sent in one segment. */
  readonly turns: number;
}

const deliveries: readonly Delivery[] = [true, false].flatMap((isChunked) =>
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

/**
 * Posts pets on one connection, cut in each of these ways, and expects that those with something behind them are
 * refused. Resolves to the names of the others.
 */
export async function postCutPets(
  wire: Wire,
  head: Parameters<typeof compose>[0],
  cuts: ReturnType<typeof cutsAtEvery>,
): Promise<readonly string[]> {
  wire.socket.setNoDelay();
  const names: string[] = [];
  for (const delivery of deliveries) {
    const post = async (pieces: readonly Buffer[], expected: number): Promise<void> => {
      await sendPieces(wire, { ...head, method: "POST" }, pieces, delivery);
      const { status } = await wire.response();
      expect({ ...delivery, pieces: pieces.map(String), status }).toMatchObject({
        status: expected,
      });
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

/** Sends a request with these pieces as its body. */
async function sendPieces(
  wire: Wire,
  head: Parameters<typeof compose>[0],
  pieces: readonly Buffer[],
  { isChunked, turns }: Delivery,
): Promise<void> {
  const length = Buffer.concat(pieces).length;
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const headers = [framing, "Content-Type: application/json"];
  const body = isChunked ? [...pieces.map(chunkOf), Buffer.from("0\r\n\r\n")] : pieces;
  const segments = [Buffer.from(compose({ ...head, headers })), ...body];
  for (const segment of turns === 0 ? [Buffer.concat(segments)] : segments) {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    wire.send(segment);
  }
}

function chunkOf(piece: Buffer): Buffer {
  return Buffer.from(`${piece.length.toString(16)}\r\n${piece.toString("latin1")}\r\n`, "latin1");
}
