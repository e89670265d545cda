import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";

/**
 * A table of RESULTS.md.
 * @typedef {object} Section
 * @property {string} name
 * @property {string} title
 * @property {string} text how it was measured
 * @property {readonly string[]} head
 * @property {readonly (readonly string[])[]} rows
 * @property {Chart} [chart] drawn beside the file
 */

/** @typedef {{ file: string, title: string, groups: readonly { group: string, bars: readonly { name: string, value: number }[] }[] }} Chart */

/**
 * Prints a section, and puts it into the file, in the place of the one with this name.
 * @param {string} file
 * @param {Section} section
 */
export function writeSection(file, { name, title, text, head, rows, chart }) {
  const section = [
    `<!-- ${name} -->`,
    `## ${title}`,
    text,
    ...(chart === undefined ? [] : [`![${title}](${chart.file})`]),
    [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n"),
    `${machine()}.`,
    `<!-- end ${name} -->`,
  ].join("\n\n");
  console.log(section);
  const before = readFileSync(file, "utf8");
  const place = new RegExp(`<!-- ${name} -->.*<!-- end ${name} -->`, "s");
  writeFileSync(
    file,
    place.test(before) ? before.replace(place, () => section) : `${before}\n${section}\n`,
  );
  if (chart !== undefined) writeFileSync(join(dirname(file), chart.file), drawn(chart));
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

/** Groups of bars, as SVG. @param {Chart} chart */
function drawn({ title, groups }) {
  const rowHeight = 22;
  const labelWidth = 190;
  const width = 760;
  const largest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const scale = (width - labelWidth - 70) / largest;
  let y = 40;
  const parts = [`<text x="16" y="24" font-size="16" font-weight="bold">${title}</text>`];
  for (const { group, bars } of groups) {
    parts.push(`<text x="16" y="${y + 24}" font-weight="bold">${group}</text>`);
    y += 12 + rowHeight;
    for (const { name: bar, value } of bars) {
      const colour = bar.startsWith("pet store") ? "#2563eb" : "#9ca3af";
      parts.push(
        `<text x="${labelWidth - 8}" y="${y + 12}" text-anchor="end">${bar}</text>`,
        `<rect x="${labelWidth}" y="${y}" width="${(value * scale).toFixed(1)}" height="${rowHeight - 6}" fill="${colour}"/>`,
        `<text x="${labelWidth + 6 + value * scale}" y="${y + 12}">${value.toFixed(2)}</text>`,
      );
      y += rowHeight;
    }
  }
  const height = y + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>${parts.join("")}</svg>\n`;
}

/**
 * A row for each server, with cells for each operation: by the name of its samples, and by that of the floor's.
 * @param {readonly { name: string }[]} servers
 * @param {readonly string[]} operations
 * @param {(id: string, floor: string) => readonly string[]} cells
 */
export function rowsOf(servers, operations, cells) {
  return servers.map(({ name }) => [
    name,
    ...operations.flatMap((each) => cells(`${each}, ${name}`, `${each}, floor`)),
  ]);
}
