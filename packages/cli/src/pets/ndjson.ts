import { decodeJson, encodePet } from "@petstore/http-adapter";
import { err, ok, type Result } from "neverthrow";
import { TOO_LONG, type Entry } from "./entry.js";
import type { PetFormat } from "./pet-format.js";

/** One JSON object a line, each as POST /pets takes it and GET /pets answers it. */
export const ndjson: PetFormat = {
  heading: "",
  encode: (pet) => `${encodePet(pet)}\n`,
  join: (lines) => lines,
  open: () => ok((entries) => entries.map(decode)),
};

function decode({ bytes }: Entry): Result<unknown, string> {
  return bytes === undefined
    ? err(TOO_LONG)
    : decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
}
