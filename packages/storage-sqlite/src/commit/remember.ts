import type { Transactions } from "./transactions.js";

/** Reads something once, and again only after the database may have changed (see `Transactions.version`). */
export function remember<T>({ version }: Pick<Transactions, "version">, read: () => T): () => T {
  let remembered: { readonly version: number; readonly value: T } | undefined;
  return () => {
    // The version first: what is read may be newer than its version, but never older.
    const current = version();
    if (remembered?.version !== current) remembered = { version: current, value: read() };
    return remembered.value;
  };
}
