import { decodeJson } from "@petstore/http-adapter";
import { err, ok } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  readBlocks,
  TOO_LONG,
  type Entry,
  type EntryReader,
} from "./pet-file.js";

/** Reads one JSON object per line. */
export const readNdjson: EntryReader = async function* (chunks) {
  let line = 1;
  let isBeginning = true;
  for await (const block of readBlocks(chunks)) {
    const entries: Entry[] = [];
    for (let start = 0; start < block.length; line += 1) {
      const found = block.indexOf(LINE_FEED, start);
      const end = found < 0 ? block.length : found;
      const bytes = block.subarray(start, end);
      if (!isBlank(bytes)) entries.push(toEntry(line, bytes));
      start = end + 1;
    }
    const [first] = entries;
    if (isBeginning && first?.bytes.toString("latin1").trimStart().startsWith("[") === true) {
      yield err(JSON_ARRAY);
      return;
    }
    isBeginning &&= first === undefined;
    yield ok({ entries, heading: undefined });
  }
};

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact).";

function toEntry(line: number, bytes: Buffer): Entry {
  const pet =
    bytes.length > LONGEST_ENTRY
      ? err(TOO_LONG)
      : decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
  return { first: line, last: line, bytes, pet };
}
