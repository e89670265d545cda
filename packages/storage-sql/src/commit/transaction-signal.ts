import { signalChannel, type TransactionSignal } from "@petstore/core";

/** What the signals of a group's transactions have in common. */
export type TransactionKind = Pick<TransactionSignal, "storage" | "group">;

/** How a group names its transactions, and measures time. */
interface SignalOptions {
  readonly kind: TransactionKind;
  /** How long after its arrival the deadline of a call is, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

/**
 * Creates the function that is called when a transaction begins, with its calls, the oldest first. It returns the
 * function that publishes the transaction when it has ended; `undefined` if nobody receives it.
 */
export function createTransactionSignal({
  kind,
  timeout,
  now,
}: SignalOptions): (
  calls: readonly { readonly deadline: number }[],
) => ((failed: boolean) => void) | undefined {
  const transactions = signalChannel("petstore:transaction");
  return (calls) => {
    if (!transactions.hasSubscribers) return undefined;
    const begunAt = now();
    const arrivedAt = (calls[0]?.deadline ?? begunAt + timeout) - timeout;
    return (failed) =>
      transactions.publish({
        // A spread before fractions takes V8 microseconds.
        storage: kind.storage,
        group: kind.group,
        calls: calls.length,
        waitMilliseconds: begunAt - arrivedAt,
        commitMilliseconds: now() - begunAt,
        failed,
      });
  };
}
