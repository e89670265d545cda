import { parseNewPet, type NewPet } from "@petstore/core";
import { decodeJson } from "@petstore/http-adapter";
import { err, type Result } from "neverthrow";
import { readLines } from "../read-lines.js";
import { LONGEST, TOO_LONG, type Entry } from "./entry.js";

/** Reads one JSON object per line. Throws at a JSON array. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Entry[]> {
  let number = 0;
  let isBeginning = true;
  for await (const lines of readLines(chunks, LONGEST)) {
    const entries: Entry[] = [];
    for (const bytes of lines) {
      number += 1;
      if (isBlank(bytes)) continue;
      if (isBeginning && /^\s*\[/.test(bytes.toString("latin1"))) throw new Error(JSON_ARRAY);
      isBeginning = false;
      const pet = parseLine(bytes);
      entries.push({ first: number, last: number, bytes, heading: NO_HEADING, pet });
    }
    yield entries;
  }
}

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact)";

const NO_HEADING = Buffer.alloc(0);

/** Whether a line is only white space. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function parseLine(line: Buffer): Result<NewPet, string> {
  if (line.length > LONGEST) return err(TOO_LONG);
  const value = decodeJson(line);
  if (value.isErr()) return err("It is not JSON in UTF-8.");
  return parseNewPet(value.value).mapErr(({ message }) => message);
}
