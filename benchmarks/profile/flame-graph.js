import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {import("./cpu-profile.js").Frame} Frame */

const WIDTH = 1_200;
const ROW = 17;
/** Frames narrower than this many pixels are left out. */
const NARROWEST = 2;

/** @type {Readonly<Record<string, string>>} */
const COLOURS = {
  "http-adapter": "#93c5fd",
  core: "#2dd4bf",
  "storage-sqlite": "#fbbf24",
  sending: "#d1d5db",
  "garbage collector": "#f87171",
  Node: "#e5e7eb",
};

/**
 * Draws the calls of a profile as SVG, beside RESULTS.md: each function as wide as the time in it and
 * what it calls. Time spent idle is left out.
 * @param {string} name the file's name
 * @param {string} title
 * @param {Frame} root
 * @param {number} requests how many the profile saw
 */
export function drawFlameGraph(name, title, root, requests) {
  const busy = merged([root])[0]?.children.filter(({ owner }) => owner !== "idle") ?? [];
  const whole = busy.reduce((sum, { total }) => sum + total, 0);
  /** @type {string[]} */
  const parts = [];
  let deepest = 0;

  /**
   * @param {readonly Frame[]} frames
   * @param {number} x
   * @param {number} depth
   */
  const draw = (frames, x, depth) => {
    for (const { name: label, owner, total, children } of frames) {
      const width = (total / whole) * WIDTH;
      if (width >= NARROWEST) {
        const y = 40 + depth * ROW;
        const text = `${label} (${owner}): ${(total / requests).toFixed(2)} µs a request`;
        const fits = Math.floor(width / 6.5);
        parts.push(
          `<g><title>${escaped(text)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${COLOURS[owner] ?? "#c4b5fd"}"/>`,
          fits < 4
            ? "</g>"
            : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label.slice(0, fits))}</text></g>`,
        );
        deepest = Math.max(deepest, depth);
        draw(merged(children), x, depth + 1);
      }
      x += width;
    }
  };
  draw(busy, 0, 0);

  const legend = Object.entries(COLOURS).map(
    ([owner, colour], index) =>
      `<rect x="${500 + index * 118}" y="12" width="10" height="10" fill="${colour}"/><text x="${513 + index * 118}" y="21">${owner}</text>`,
  );
  const height = 40 + (deepest + 1) * ROW + 8;
  writeFileSync(
    fileURLToPath(new URL(`../${name}`, import.meta.url)),
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/><text x="6" y="22" font-size="15" font-weight="bold">${escaped(title)}</text>${legend.join("")}${parts.join("")}</svg>\n`,
  );
}

/**
 * Calls of the same function from the same place as one, the longest first.
 * @param {readonly Frame[]} frames
 * @returns {Frame[]}
 */
function merged(frames) {
  /** @type {Map<string, Frame>} */
  const byName = new Map();
  for (const frame of frames) {
    const key = `${frame.owner} ${frame.name}`;
    const known = byName.get(key);
    byName.set(
      key,
      known === undefined
        ? frame
        : {
            ...known,
            self: known.self + frame.self,
            total: known.total + frame.total,
            children: [...known.children, ...frame.children],
          },
    );
  }
  return [...byName.values()].sort((one, other) => other.total - one.total);
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}
