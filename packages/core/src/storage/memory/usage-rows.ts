import type { Usage } from "../../limits/usage.js";
import { createNumberRows } from "./columns.js";

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
const WIDTH = 8;

/** Rows of usage, none of them written. */
export function createUsageRows(): UsageRows {
  const rows = createNumberRows(WIDTH);
  return {
    read: (row) => {
      const chunk = rows.chunk(row);
      const at = rows.offset(row);
      return {
        minuteOpenedAt: chunk[at + MINUTE_OPENED_AT] ?? 0,
        minuteUsed: chunk[at + MINUTE_USED] ?? 0,
        dayOpenedAt: chunk[at + DAY_OPENED_AT] ?? 0,
        dayUsed: chunk[at + DAY_USED] ?? 0,
        refusals: chunk[at + REFUSALS] ?? 0,
        bans: chunk[at + BANS] ?? 0,
        bannedAt: chunk[at + BANNED_AT] ?? 0,
        lastUsedAt: chunk[at + LAST_USED_AT] ?? 0,
      };
    },
    write: (row, usage) => {
      const chunk = rows.writable(row);
      const at = rows.offset(row);
      chunk[at + MINUTE_OPENED_AT] = usage.minuteOpenedAt;
      chunk[at + MINUTE_USED] = usage.minuteUsed;
      chunk[at + DAY_OPENED_AT] = usage.dayOpenedAt;
      chunk[at + DAY_USED] = usage.dayUsed;
      chunk[at + REFUSALS] = usage.refusals;
      chunk[at + BANS] = usage.bans;
      chunk[at + BANNED_AT] = usage.bannedAt;
      chunk[at + LAST_USED_AT] = usage.lastUsedAt;
    },
  };
}
