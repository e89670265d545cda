/** Where a command writes. */
export interface Terminal {
  /** What was asked for. */
  out(line: string): void;
  /** Why it could not be done, and remarks. */
  error(line: string): void;
  /** Waits until what was asked for is written. Resolves to why some of it could not be, if so. */
  written(): Promise<string | undefined>;
}
