import cluster from "node:cluster";
import type { Terminal } from "../../terminal.js";
import type { WorkerMessage } from "./worker-message.js";

/** Serves; told the address once it listens. Resolves to what went wrong, if anything. */
export type Serve = (
  terminal: Terminal,
  onListening: (url: string) => void,
) => Promise<string | undefined>;

/** Whether this process is a worker. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/**
 * Serves as a worker: what there is to say, and what went wrong, is left to the process that started
 * it.
 */
export async function work(serve: Serve, terminal: Terminal): Promise<undefined> {
  const tell = (message: WorkerMessage): void => {
    cluster.worker?.send(message);
  };
  const quiet: Terminal = { ...terminal, out: () => undefined };
  const problem = await serve(quiet, (url) => tell({ kind: "listening", url }));
  if (problem !== undefined) tell({ kind: "problem", problem });
  cluster.worker?.disconnect();
}
