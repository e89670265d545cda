import { decodeJson } from "@petstore/http-adapter";
import { err, ok } from "neverthrow";
import {
  isBlank,
  LONGEST_ENTRY,
  readLines,
  TOO_LONG,
  type Entry,
  type EntryReader,
  type Line,
} from "./pet-file.js";

/** Reads one JSON object per line. */
export const readNdjson: EntryReader = async function* (chunks) {
  let isBeginning = true;
  for await (const lines of readLines(chunks)) {
    const entries = lines.filter((line) => !isBlank(line)).map(toEntry);
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

function toEntry({ number, bytes }: Line): Entry {
  const pet =
    bytes.length > LONGEST_ENTRY
      ? err(TOO_LONG)
      : decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
  return { first: number, last: number, bytes, pet };
}
