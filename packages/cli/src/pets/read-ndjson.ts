import { decodeJson } from "@petstore/http-adapter";
import { err, ok } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  markLength,
  TOO_LONG,
  type Entry,
  type EntryReader,
} from "./pet-file.js";

/** Reads one JSON object per line. Does not keep more of a line than the maximum length. */
export const readNdjson: EntryReader = async function* (chunks) {
  let unfinished = Buffer.alloc(0);
  let line = 1;

  const readLines = (bytes: Buffer): readonly Entry[] => {
    const entries: Entry[] = [];
    let start = line === 1 ? markLength(bytes) : 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const text = bytes.subarray(start, end);
      if (!isBlank(text)) entries.push(toEntry(text, line));
      line += 1;
      start = end + 1;
    }
    // One byte more than allowed is enough to recognize a line that is too long.
    unfinished = Buffer.from(bytes.subarray(start, start + LONGEST_ENTRY + 1));
    return entries;
  };

  for await (const chunk of chunks) {
    yield ok({ entries: readLines(Buffer.concat([unfinished, chunk])), heading: undefined });
  }
  const end = Buffer.concat([unfinished, Buffer.from([LINE_FEED])]);
  yield ok({ entries: readLines(end), heading: undefined });
};

function toEntry(bytes: Buffer, line: number): Entry {
  const position = { first: line, last: line };
  if (bytes.length > LONGEST_ENTRY) return { ...position, bytes: undefined, pet: err(TOO_LONG) };
  const pet = decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
  return { ...position, bytes, pet };
}
