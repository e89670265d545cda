/** Returns milliseconds of a clock that is never set: for timeouts. */
export function monotonicNow(): number {
  return performance.now();
}
