const closings = new Set<() => void>();

const closeAll = (): void => closings.forEach((close) => close());

/** Calls `close` at the end of the process, unless undone before. All share a listener: Node warns of more than ten. */
export function atExit(close: () => void): () => void {
  if (closings.size === 0) process.on("exit", closeAll);
  closings.add(close);
  return () => {
    closings.delete(close);
    if (closings.size === 0) process.off("exit", closeAll);
  };
}
