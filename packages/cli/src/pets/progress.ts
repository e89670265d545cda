import type { Streams } from "../terminal.js";

/**
 * Shows the progress of an import or export in one line of a terminal, with a bar if the completed
 * fraction is known. An empty text erases the line, so that other lines can be written.
 */
export type Progress = (text: string, fraction?: number) => void;

/** Creates a progress line on this stream; without effect if the stream is not a terminal. */
export function createProgress(stream: Streams["stderr"]): Progress {
  let isShown = false;
  return (text, fraction) => {
    if (stream.isTTY !== true || (text === "" && !isShown)) return;
    stream.write(`\r\u001B[K${fraction === undefined ? "" : bar(fraction)}${text}`);
    isShown = text !== "";
  };
}

const WIDTH = 30;

function bar(fraction: number): string {
  const full = Math.round(fraction * WIDTH);
  const percent = (fraction * 100).toFixed(1).padStart(5);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${percent} % `;
}

/** Formats a count for the operator: `1 pet`, `1,000 pets`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
