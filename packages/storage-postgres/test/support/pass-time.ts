import { setTimeout } from "node:timers/promises";
import { onTestFinished, vi } from "vitest";
import { fakeTimers, realTimers } from "../../../../scripts/fake-timers.js";

/** Makes calls that wait for their deadlines, while the clock of the deadlines runs five times as fast. */
export async function whileTimePasses<T>(calls: () => Promise<T>): Promise<T> {
  fakeTimers("setTimeout", "clearTimeout", "setInterval", "clearInterval");
  const now = performance.now.bind(performance);
  let time = now();
  performance.now = () => time;
  const over = new AbortController();
  try {
    const result = calls().finally(() => over.abort());
    while (!over.signal.aborted) {
      await setTimeout(5);
      time += 25;
      vi.advanceTimersByTime(25);
    }
    return await result;
  } finally {
    realTimers();
    const ahead = time - now();
    performance.now = () => now() + ahead;
    onTestFinished(() => void (performance.now = now));
  }
}

/** Until the end of the test, calls are tried again for ten times as long: a busy machine makes none of them fail. */
export function postponeDeadlines(): void {
  const now = performance.now.bind(performance);
  const start = now();
  performance.now = () => start + (now() - start) / 10;
  onTestFinished(() => void (performance.now = now));
}
