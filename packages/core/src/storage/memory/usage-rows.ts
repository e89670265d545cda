import type { Usage } from "../../limits/usage.js";
import { createNumberColumns } from "./columns.js";

/** What keys have used, a row each; `NO_USAGE` until written. */
export interface UsageRows {
  read(row: number): Usage;
  write(row: number, usage: Usage): void;
}

const MINUTE_OPENED_AT = 0;
const MINUTE_USED = 1;
const DAY_OPENED_AT = 2;
const DAY_USED = 3;
const REFUSALS = 4;
const BANS = 5;
const BANNED_AT = 6;
const LAST_USED_AT = 7;

/** Rows of usage, none of them written. */
export function createUsageRows(): UsageRows {
  const numbers = createNumberColumns(8);
  return {
    read: (row) => ({
      minuteOpenedAt: numbers.get(row, MINUTE_OPENED_AT),
      minuteUsed: numbers.get(row, MINUTE_USED),
      dayOpenedAt: numbers.get(row, DAY_OPENED_AT),
      dayUsed: numbers.get(row, DAY_USED),
      refusals: numbers.get(row, REFUSALS),
      bans: numbers.get(row, BANS),
      bannedAt: numbers.get(row, BANNED_AT),
      lastUsedAt: numbers.get(row, LAST_USED_AT),
    }),
    write: (row, usage) => {
      numbers.set(row, MINUTE_OPENED_AT, usage.minuteOpenedAt);
      numbers.set(row, MINUTE_USED, usage.minuteUsed);
      numbers.set(row, DAY_OPENED_AT, usage.dayOpenedAt);
      numbers.set(row, DAY_USED, usage.dayUsed);
      numbers.set(row, REFUSALS, usage.refusals);
      numbers.set(row, BANS, usage.bans);
      numbers.set(row, BANNED_AT, usage.bannedAt);
      numbers.set(row, LAST_USED_AT, usage.lastUsedAt);
    },
  };
}
