import type { Streams } from "../terminal.js";

/** A line on a terminal that shows the progress of an import or export. */
export interface Progress {
  /** Shows the part that is done, from 0 to 1 if it is known, and a few words. */
  show(done: number | undefined, words: string): void;
  /** Erases the line to make room for others. */
  clear(): void;
}

const WIDTH = 30;
const ERASE = "\r\u001B[K";

/** Shows progress on this stream if it is a terminal. */
export function createProgress(stream: Streams["stderr"]): Progress {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let shown = "";
  return {
    show: (done, words) => {
      const line = done === undefined ? words : `${bar(done)} ${words}`;
      if (line === shown) return;
      stream.write(ERASE + line);
      shown = line;
    },
    clear: () => {
      if (shown !== "") stream.write(ERASE);
      shown = "";
    },
  };
}

function bar(done: number): string {
  const full = Math.round(done * WIDTH);
  const percent = (done * 100).toFixed(1).padStart(5);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${percent} %`;
}
