const closings = new Set<() => void>();

function closeAll(): void {
  for (const close of closings) close();
}

/**
 * Calls `close` at the end of the process, unless the returned function is called before. All share one listener: Node
 * warns of more than ten.
 */
export function atExit(close: () => void): () => void {
  if (closings.size === 0) process.on("exit", closeAll);
  closings.add(close);
  return () => {
    closings.delete(close);
    if (closings.size === 0) process.off("exit", closeAll);
  };
}
