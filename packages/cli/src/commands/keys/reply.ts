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
) => Promise<void>;

/** Replies on a terminal; an `Err`, and a reply that cannot be written, make the command fail. */
export function createReply(
  terminal: Terminal,
  clock: Clock,
  fail: (message: string) => void,
): Reply {
  return async ({ json }, result, renderer) => {
    if (result.isErr()) {
      fail(result.error);
      return;
    }
    const { value } = result;
    terminal.out(json ? JSON.stringify(renderer.json(value)) : renderer.text(value, clock.now()));
    const problem = await terminal.written();
    if (problem !== undefined) fail(`it is done, but the reply could not be written: ${problem}`);
  };
}
