import type { ApiKey, KeyError, KeyRing } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";

/** In which order keys are listed: as they were issued, or those with most requests in this minute and day first. */
export const ORDERS = ["issue", "use"] as const;

/** Which keys to list, and how. */
export interface Listing {
  readonly banned?: true | undefined;
  readonly sort: (typeof ORDERS)[number];
}

/** Lists all keys of a store. */
export async function listKeys(
  keys: KeyRing,
  { banned, sort }: Listing,
): Promise<Result<readonly ApiKey[], KeyError>> {
  const all: ApiKey[] = [];
  let after: string | undefined;
  do {
    const page = await keys.list({ limit: 1_000, after, banned });
    if (page.isErr()) return err(page.error);
    all.push(...page.value.keys);
    after = page.value.next;
  } while (after !== undefined);
  return ok(sort === "use" ? all.sort(byUse) : all);
}

/** Compares by the requests of the current minute, then of the current day, then by the last request. */
function byUse(one: ApiKey, other: ApiKey): number {
  return (
    usedIn("minute", other) - usedIn("minute", one) ||
    usedIn("day", other) - usedIn("day", one) ||
    (other.lastUsedAt ?? 0) - (one.lastUsedAt ?? 0)
  );
}

function usedIn(window: "minute" | "day", { usage }: ApiKey): number {
  return usage[window].limit - usage[window].remaining;
}
