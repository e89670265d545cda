import cluster, { type Worker } from "node:cluster";
import { isWorkerMessage } from "./worker-message.js";

/** How a worker ended. */
export interface WorkerEnd {
  /** Why it could not start, or not end well, if it said so. */
  readonly problem: string | undefined;
  /** By which signal, or with which exit code, in words. */
  readonly how: string;
}

/** What a worker is watched for. */
export interface WorkerWatch {
  /** It accepts connections at this address. */
  readonly onListening: (url: string) => void;
  /** It is gone. */
  readonly onEnd: (end: WorkerEnd) => void;
}

/** Starts a worker: a process that runs this very command. */
export function startWorker({ onListening, onEnd }: WorkerWatch): Worker {
  // Each worker accepts for itself: Node's round robin loses the connections that it has handed to a
  // worker which dies before it takes them, and their clients wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const worker = cluster.fork();
  let problem: string | undefined;
  worker.on("message", (message: unknown) => {
    if (!isWorkerMessage(message)) return;
    if (message.kind === "problem") problem = message.problem;
    else onListening(message.url);
  });
  worker.on("exit", (code, signal) => {
    onEnd({ problem, how: `it ended with ${signal || `exit code ${code}`}` });
  });
  return worker;
}
