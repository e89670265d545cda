import type { PetStore } from "@petstore/core";
import type { Result } from "neverthrow";
import type { Report } from "../terminal.js";
import { createDrain } from "./drain.js";
import { listen as listenBefore } from "./listen.js";
import type { LogLine } from "./log.js";

/** A server that accepts connections. */
export interface Listening {
  /** The base address, as a client on this machine uses it. */
  readonly url: string;
  /**
   * Accepts no more connections, finishes running requests, and cuts those that take longer than this many
   * milliseconds.
   */
  readonly drain: (milliseconds: number) => Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Is called after each response. */
  readonly onResponse: ((line: LogLine) => void) | undefined;
  readonly report: Report;
}

export async function listen(
  store: PetStore,
  { host, port, onResponse, report }: ListenOptions,
): Promise<Result<Listening, string>> {
  const drain = createDrain();
  const listening = await listenBefore(store, { host, port, drain, log: onResponse, report });
  return listening.map(({ server, url }) => ({
    url,
    drain: (milliseconds) => drain.end(server, milliseconds),
  }));
}
