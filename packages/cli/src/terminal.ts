/** Where a command writes. */
export interface Terminal {
  /** What was asked for. */
  out(line: string): void;
  /** Why it could not be done, and remarks. */
  error(line: string): void;
}
