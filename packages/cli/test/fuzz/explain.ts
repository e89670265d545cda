import { narrow } from "./narrow.js";
import { runRound, type Failure, type Target, type Timeouts } from "./round.js";
import type { Sequence } from "./sequences.js";

/** How long to look for the guilty sequence, in milliseconds. */
const LONGEST_SEARCH = 90_000;
/** A failure that depends on timing appears in one of many tries. */
const TRIES = 100;
/** A connection lingers for 5 s at most. */
const SHORT: Timeouts = { closeTimeout: 7_000, idleTimeout: 7_000 };

/** Replays sequences that may have failed against new servers. Returns the shortest part that fails again. */
export async function explain(
  { kind, what, suspects }: Failure,
  start: () => Promise<Target>,
): Promise<string> {
  const deadline = performance.now() + LONGEST_SEARCH;
  const isOver = (): boolean => performance.now() > deadline;
  let again = "it did not fail again";

  async function fails(part: readonly Sequence[]): Promise<boolean> {
    const target = await start();
    const tries = Array.from({ length: Math.ceil(TRIES / part.length) }, () => part).flat();
    const failure = await runRound(target, tries, SHORT);
    await target.server.stop("SIGKILL", SHORT.idleTimeout);
    if (failure?.kind !== kind) return false;
    again = failure.what;
    return true;
  }

  const guilty = await narrow(suspects, fails, isOver);
  const shortest = guilty.length > 1 ? guilty : await Promise.all(guilty.map(shorten));
  return `${what}\nReplayed:\n${shortest.map((one) => JSON.stringify(one)).join("\n")}\n${again}`;

  async function shorten(one: Sequence): Promise<Sequence> {
    const fail = (messages: Sequence["messages"]) => fails([{ ...one, messages }]);
    return { ...one, messages: await narrow(one.messages, fail, isOver) };
  }
}
