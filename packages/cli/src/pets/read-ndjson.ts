import { parseNewPet, type NewPet } from "@petstore/core";
import { decodeJson } from "@petstore/http-adapter";
import { err, type Result } from "neverthrow";
import { isBlank, LONGEST, TOO_LONG, type Entry, type Lines } from "./entry.js";

/** Reads one JSON object per line. Throws at a JSON array. */
export async function* readNdjson(
  groups: AsyncIterable<readonly Lines[]>,
): AsyncIterable<readonly Entry[]> {
  let isBeginning = true;
  for await (const group of groups) {
    const lines = group.filter((line) => !isBlank(line));
    if (isBeginning && /^\s*\[/.test(lines[0]?.bytes.toString("latin1") ?? "")) {
      throw new Error(JSON_ARRAY);
    }
    isBeginning &&= lines.length === 0;
    yield lines.map(({ first, last, bytes }) => ({
      first,
      last,
      bytes,
      heading: NO_HEADING,
      pet: parseLine(bytes),
    }));
  }
}

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact)";

const NO_HEADING = Buffer.alloc(0);

function parseLine(line: Buffer): Result<NewPet, string> {
  if (line.length > LONGEST) return err(TOO_LONG);
  const value = decodeJson(line);
  if (value.isErr()) return err("It is not JSON in UTF-8.");
  return parseNewPet(value.value).mapErr(({ message }) => message);
}
