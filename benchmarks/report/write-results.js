import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../RESULTS.md", import.meta.url));

/**
 * Prints a section of results and puts it into RESULTS.md, in the place of the one with this name.
 * @param {string} name
 * @param {string} title
 * @param {string} explanation
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 * @param {string} [picture] the file name of a chart beside RESULTS.md
 */
export function writeResults(name, title, explanation, head, rows, picture) {
  const section = [
    `<!-- ${name} -->`,
    "",
    `## ${title}`,
    "",
    explanation,
    "",
    ...(picture === undefined ? [] : [`![${title}](${picture})`, ""]),
    line(head),
    line(head.map(() => "---")),
    ...rows.map(line),
    "",
    `${machine()}.`,
    "",
    `<!-- end ${name} -->`,
  ].join("\n");
  console.log(section);
  const before = readFileSync(file, "utf8");
  const place = new RegExp(`<!-- ${name} -->.*<!-- end ${name} -->`, "s");
  writeFileSync(
    file,
    place.test(before) ? before.replace(place, () => section) : `${before}\n${section}\n`,
  );
}

/** What the figures were measured on. */
function machine() {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `${cpu?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}, ${day}`;
}

/** @param {readonly string[]} cells */
function line(cells) {
  return `| ${cells.join(" | ")} |`;
}
