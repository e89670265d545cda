import type { Pet } from "@petstore/core";
import { joinQuotedLines } from "./join-quoted-lines.js";
import { openCsv } from "./open-csv.js";
import type { PetFormat } from "./pet-format.js";

/** Comma-separated values (RFC 4180) under a line that names the columns. */
export const csv: PetFormat = {
  heading: "id,name,categoryId,status\n",
  encode: ({ id, name, categoryId, status }: Pet) =>
    `${id},${quote(name)},${categoryId},${status}\n`,
  join: (lines) => joinQuotedLines(lines),
  open: openCsv,
};

/** RFC 4180, section 2, rule 7. */
function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
