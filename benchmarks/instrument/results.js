import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";

/**
 * A table of results. A cell may have ratios and ranges in brackets at its end.
 * @typedef {object} Section
 * @property {string} name
 * @property {string} title
 * @property {string} text how it was measured
 * @property {readonly string[]} head
 * @property {readonly (readonly string[])[]} rows
 * @property {Chart} [chart] drawn beside the file
 */

/** A section in the file of results. @typedef {Omit<Section, "name" | "chart"> & { case: string, machine: string }} Result */

/** @typedef {{ file: string, title: string, groups: readonly { group: string, bars: readonly { name: string, value: number }[] }[] }} Chart */

/** @param {string} file @returns {Record<string, Result>} the results by the name of their section */
export function readResults(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** Returns a result as text. @param {Result} result */
export function printed({ title, text, head, rows, machine }) {
  return [`## ${title}`, text, table(head, rows), `${machine}.`].join("\n\n");
}

/**
 * Prints a section, and puts it into the file of results, in the place of the one with this name. The tables of the page
 * RESULTS.md beside the file follow it.
 * @param {string} file
 * @param {string} of the name of its case
 * @param {Section} section
 */
export function writeSection(file, of, { name, chart, ...section }) {
  const result = { case: of, ...section, machine: machine() };
  console.log(printed(result));
  const text = JSON.stringify({ ...readResults(file), [name]: result }, undefined, 2);
  const rowOnALine = /\[\s+((?:"(?:[^"\\]|\\.)*",?\s+)+)\]/g;
  const onALine = (/** @type {string} */ row) =>
    row.replaceAll(/\s*\n\s*/g, " ").replace(/^\[ | \]$/g, (end) => end.trim());
  writeFileSync(file, `${text.replace(rowOnALine, onALine)}\n`);
  const page = join(dirname(file), "RESULTS.md");
  if (existsSync(page)) {
    writeFileSync(page, withTables(readFileSync(page, "utf8"), readResults(file)));
  }
  if (chart !== undefined) writeFileSync(join(dirname(file), chart.file), drawn(chart));
}

/**
 * Returns the page with the newest figures in its tables, without brackets. A comment before a table names its section.
 * @param {string} page
 * @param {Record<string, Result>} results
 */
export function withTables(page, results) {
  return page.replace(
    /(<!-- ([\w-]+) -->\n\n)\|.*?\n\n[^\n]*/gs,
    (section, /** @type {string} */ comment, /** @type {string} */ name) => {
      const result = results[name];
      if (result === undefined) return section;
      const rows = result.rows.map((row) => row.map((cell) => cell.replace(/ \(.*\)$/, "")));
      return `${comment}${table(result.head, rows)}\n\n${result.machine}.`;
    },
  );
}

/** What the figures were measured on. */
function machine() {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `${cpu?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}, ${day}`;
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
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
