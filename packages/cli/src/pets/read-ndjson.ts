import { decodeJson } from "@petstore/http-adapter";
import { err, type Result } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  TOO_LONG,
  type Entry,
  type EntryGroup,
} from "./entries.js";

/** Reads one JSON object per line. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncIterable<EntryGroup> {
  let number = 0;
  let isBeginning = true;
  for await (const lines of readLines(chunks)) {
    const entries: Entry[] = [];
    for (const line of lines) {
      number += 1;
      if (isBlank(line)) continue;
      if (isBeginning && line.toString("latin1").trimStart().startsWith("[")) {
        yield { entries, problem: JSON_ARRAY };
        return;
      }
      isBeginning = false;
      const entry = line.length > LONGEST_ENTRY ? CUT_OFF : { bytes: line, pet: parseLine(line) };
      entries.push({ first: number, last: number, ...entry });
    }
    yield { entries };
  }
}

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact).";

const CUT_OFF = { bytes: Buffer.alloc(0), pet: err(TOO_LONG) };

function parseLine(line: Buffer): Result<unknown, string> {
  return decodeJson(line).mapErr(() => "It is not JSON in UTF-8.");
}

/** Splits chunks into lines without their line feeds. Longer ones are cut off after `LONGEST_ENTRY` + 1 bytes. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Buffer[]> {
  let unfinished: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    if (lines.length > 0) yield lines;
    unfinished = bytes.subarray(start, start + LONGEST_ENTRY + 1);
  }
  if (unfinished.length > 0) yield [unfinished];
}
