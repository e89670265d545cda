import { systemClock } from "@petstore/core";
import { describeStoreError } from "../../store-error.js";
import type { Terminal } from "../../terminal.js";
import { openStore } from "../../with-store.js";
import { issueFirstKey } from "../first-key.js";
import { nextStop } from "../shut-down.js";
import { supervise } from "./supervise.js";

/** What serving with workers takes of the command's options. */
export interface WorkersOptions {
  readonly workers: number;
  readonly database: string;
  readonly firstKey?: true;
}

/**
 * Has workers serve the store until a signal comes. Keys, limits and pets are in the database, which
 * they share. Resolves to what went wrong, if anything.
 */
export async function serveWithWorkers(
  { workers: count, database, firstKey }: WorkersOptions,
  terminal: Terminal,
): Promise<string | undefined> {
  // Before the workers, so that one process alone makes the tables and the first key.
  const opened = await openStore(database);
  if (opened.isErr()) return opened.error;
  const store = opened.value;

  const workers = supervise(count, systemClock, {
    onListening: (url) => {
      terminal.out(`petstore listens on ${url} with ${count} workers`);
      if (firstKey) void issueFirstKey(store, url, terminal);
    },
    onRemark: (line) => terminal.error(`petstore: ${line}`),
  });
  void nextStop(terminal).then((reason) => {
    terminal.out(`petstore ${reason}: finishing what is under way`);
    workers.stop();
  });
  const problem = await workers.ended;
  const closed = await store.close();
  return problem ?? (closed.isErr() ? describeStoreError(closed.error) : undefined);
}
