import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Draws groups of bars as SVG, beside RESULTS.md.
 * @param {string} name the file's name
 * @param {string} title
 * @param {readonly { group: string, bars: readonly { name: string, value: number }[] }[]} groups
 */
export function drawBarChart(name, title, groups) {
  const rowHeight = 22;
  const labelWidth = 190;
  const width = 760;
  const largest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const scale = (width - labelWidth - 70) / largest;
  let y = 40;
  const parts = [`<text x="16" y="24" font-size="16" font-weight="bold">${title}</text>`];
  for (const { group, bars } of groups) {
    y += 12;
    parts.push(`<text x="16" y="${y + 12}" font-weight="bold">${group}</text>`);
    y += rowHeight;
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
  writeFileSync(
    fileURLToPath(new URL(`../${name}`, import.meta.url)),
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>${parts.join("")}</svg>\n`,
  );
}
