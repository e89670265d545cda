import type { Streams } from "../streams.js";

/** A line on a terminal that tells how far something is. */
export interface Progress {
  /** Draws what is done, between 0 and 1 where that is known, and a few words. */
  show(done: number | undefined, words: string): void;
  /** Wipes the line, so that others can be written. */
  clear(): void;
}

const WIDTH = 30;
const WIPE = "\r\u001B[K";

/** Draws on this stream when it is a terminal, and nothing otherwise. */
export function createProgress(stream: Streams["stderr"]): Progress {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let drawn = "";
  return {
    show: (done, words) => {
      const line = done === undefined ? words : `${bar(done)} ${words}`;
      if (line === drawn) return;
      stream.write(WIPE + line);
      drawn = line;
    },
    clear: () => {
      if (drawn !== "") stream.write(WIPE);
      drawn = "";
    },
  };
}

function bar(done: number): string {
  const full = Math.round(done * WIDTH);
  const percent = (done * 100).toFixed(1).padStart(5);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${percent} %`;
}
