import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import { onTestFinished, vi } from "vitest";

type Name = "setTimeout" | "clearTimeout" | "setInterval" | "clearInterval";

/** Fakes timers until the end of the test, also where the sources import them from Node, out of a host's reach. */
export function fakeTimers(...toFake: readonly Name[]): void {
  vi.useFakeTimers(toFake.length > 0 ? { toFake: [...toFake] } : {});
  passOn();
  onTestFinished(realTimers);
}

/** A host's fake timers, until the end of the test. */
export function hostTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

export function realTimers(): void {
  vi.useRealTimers();
  passOn();
}

function passOn(): void {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  Object.assign(timers, { setTimeout, clearTimeout, setInterval, clearInterval });
  syncBuiltinESMExports();
}
