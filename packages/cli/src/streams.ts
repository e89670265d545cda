import type { Readable, Writable } from "node:stream";

/** Where a command reads and writes data that is too much for lines; `process` is one. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Where progress is drawn, if it is a terminal. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
