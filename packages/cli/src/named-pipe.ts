import { closeSync, constants, openSync, type BigIntStats } from "node:fs";

/** Opens a file. If it is a named pipe, this waits for its other end, but not after this signal. */
export async function openUnlessStopped<T>(
  path: string,
  stats: BigIntStats,
  signal: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  if (!stats.isFIFO()) return open();
  let other: number | undefined;
  const openOther = (): void => {
    try {
      other = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    } catch {
      // Without the permission to, the next signal ends the process.
    }
  };
  if (signal.aborted) openOther();
  else signal.addEventListener("abort", openOther);
  try {
    return await open();
  } finally {
    signal.removeEventListener("abort", openOther);
    if (other !== undefined) closeSync(other);
  }
}
