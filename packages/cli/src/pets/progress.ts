import type { Streams } from "../terminal.js";

/** Shows the progress of an import or export in one line of a terminal. */
export interface Progress {
  /** Shows the completed fraction, from 0 to 1, if it is known, and a short text. */
  show(done: number | undefined, text: string): void;
  /** Erases the line, so that other lines can be written. */
  clear(): void;
}

const WIDTH = 30;
const ERASE = "\r\u001B[K";

/** Creates a progress line on this stream; without effect if the stream is not a terminal. */
export function createProgress(stream: Streams["stderr"]): Progress {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let shown = "";
  return {
    show: (done, text) => {
      const line = done === undefined ? text : `${bar(done)} ${text}`;
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
