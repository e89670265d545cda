import { channel } from "node:diagnostics_channel";
import type { OperationName } from "../errors.js";
import type { WindowName } from "../limits/windows.js";

/**
 * A request over HTTP, when its response is sent or its client has gone. No field holds what a client chose
 * freely: no key, address, path, query or pet.
 */
export interface RequestSignal {
  /** The operation; `undefined` if the path and the method name none. */
  readonly operation: OperationName | undefined;
  /** The template of the path, with the base path: `/v1/pets/{petId}`. `undefined` without an operation. */
  readonly route: string | undefined;
  /** The method, or `_OTHER` for one that RFC 9110 and RFC 5789 do not define. */
  readonly method: string;
  /** The status that was sent; `undefined` if the client disconnected before. */
  readonly status: number | undefined;
  /** The code of the Error body; `undefined` if the body is not an Error of the store. */
  readonly code: string | undefined;
  /** The plan of the request's API key; `undefined` if it had no valid key. */
  readonly plan: string | undefined;
  /** The window that refused the request, if its limit was used up. */
  readonly window: WindowName | undefined;
  /** From the arrival of the request to the end of its response. */
  readonly milliseconds: number;
}

/** A transaction of a storage, when it is committed or has failed. */
export interface TransactionSignal {
  readonly storage: "sqlite" | "postgres";
  /** What its calls have in common. */
  readonly group: "charges" | "writes" | "reads";
  /** How many calls shared it. */
  readonly calls: number;
  /** How long its oldest call had waited when it began. */
  readonly waitMilliseconds: number;
  /** How long it took, from its beginning to the end of its commit. */
  readonly commitMilliseconds: number;
  /** Whether it stored nothing: its calls run again, or fail. */
  readonly failed: boolean;
}

/** A call of a store that failed with `storage_unavailable`. */
export interface StorageErrorSignal {
  /** The code of the driver or the system, such as `SQLITE_FULL` or `ECONNREFUSED`, if there is one. */
  readonly code: string | undefined;
}

/** A warning of the storage; the event `storage_warning` also has its message. */
export interface StorageWarningSignal {
  /** Defined by the storage, such as `large_log`. */
  readonly code: string;
}

/** A key was banned for ignoring refusals. */
export interface BanSignal {
  readonly plan: string;
  /** How long the ban lasts. */
  readonly milliseconds: number;
}

/** What the packages publish on channels of `node:diagnostics_channel` with these names. */
export interface Signals {
  readonly "petstore:request": RequestSignal;
  readonly "petstore:transaction": TransactionSignal;
  readonly "petstore:storage-error": StorageErrorSignal;
  readonly "petstore:storage-warning": StorageWarningSignal;
  readonly "petstore:ban": BanSignal;
}

/** The part of a channel that its publisher uses. */
export interface SignalChannel<Signal> {
  /** Without a subscriber, a signal need not be made. */
  readonly hasSubscribers: boolean;
  publish(signal: Signal): void;
}

/** Returns a channel, for a package that publishes on it. */
export function signalChannel<Name extends keyof Signals>(
  name: Name,
): SignalChannel<Signals[Name]> {
  return channel(name);
}
