import type { Clock } from "@petstore/core";
import type { Result } from "neverthrow";
import type { Terminal } from "../../terminal.js";

/** Two ways of writing one thing. */
export interface Renderer<T> {
  /** What `--json` prints. */
  json(value: T): unknown;
  /** What people read at this time, in milliseconds since the Unix epoch. */
  text(value: T, now: number): string;
}

/** Prints what a command came to, as its options want it. */
export type Reply = <T>(
  options: { readonly json?: true },
  result: Result<T, string>,
  renderer: Renderer<T>,
) => void;

/** Replies on a terminal; an `Err` makes the command fail. */
export function createReply(
  terminal: Terminal,
  clock: Clock,
  fail: (message: string) => void,
): Reply {
  return ({ json }, result, renderer) =>
    result.match((value) => {
      terminal.out(json ? JSON.stringify(renderer.json(value)) : renderer.text(value, clock.now()));
    }, fail);
}
