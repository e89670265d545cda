import { setTimeout } from "node:timers/promises";
import { isBusy } from "./failure.js";
import { pauseAfter } from "./patience.js";

/**
 * Tries, and tries again while another connection holds the database, for so many milliseconds; then
 * throws what that threw. The event loop goes on meanwhile.
 */
export async function whileBusy<T>(deadline: number, attempt: () => T): Promise<T> {
  let waited = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= deadline) throw error;
    }
    const pause = pauseAfter(tries);
    await setTimeout(pause);
    waited += pause;
  }
}
