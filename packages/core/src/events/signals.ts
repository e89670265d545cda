import { channel } from "node:diagnostics_channel";
import type { OperationName } from "../operations.js";
import type { WindowName } from "../limits/windows.js";

/**
 * A request over HTTP, when its response is sent or its client has gone. No field holds what a client chose freely: no
 * key, address, path, query or pet.
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

/** What the packages publish on channels of `node:diagnostics_channel` with these names. */
export interface Signals {
  readonly "petstore:request": RequestSignal;
  readonly "petstore:transaction": TransactionSignal;
  /** A call failed with `storage_unavailable`; the code of the driver or the system, such as `SQLITE_FULL`, if any. */
  readonly "petstore:storage-error": { readonly code: string | undefined };
  /** A warning of the storage, with its code, such as `large_log`. The event `storage_warning` also has its message. */
  readonly "petstore:storage-warning": { readonly code: string };
  /** A key of this plan was banned for ignoring refusals, for this long. */
  readonly "petstore:ban": { readonly plan: string; readonly milliseconds: number };
}

/** The part of a channel that its publisher uses. Without a subscriber, a signal need not be made. */
export interface SignalChannel<Name extends keyof Signals> {
  readonly hasSubscribers: boolean;
  publish(signal: Signals[Name]): void;
}

export const signalChannel = <Name extends keyof Signals>(name: Name): SignalChannel<Name> =>
  channel(name);
