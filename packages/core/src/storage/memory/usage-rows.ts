import type { Usage } from "../../limits/usage.js";
import { createNumberRows } from "./columns.js";

/** What keys have used, a row each; `NO_USAGE` until written. */
export interface UsageRows {
  read(row: number): Usage;
  write(row: number, usage: Usage): void;
}

const WIDTH = 8;

/** Rows of usage, none of them written. */
export function createUsageRows(): UsageRows {
  const rows = createNumberRows(WIDTH);
  return {
    read: (row) => {
      const chunk = rows.chunk(row);
      const at = rows.offset(row);
      return {
        minuteOpenedAt: chunk[at] ?? 0,
        minuteUsed: chunk[at + 1] ?? 0,
        dayOpenedAt: chunk[at + 2] ?? 0,
        dayUsed: chunk[at + 3] ?? 0,
        refusals: chunk[at + 4] ?? 0,
        bans: chunk[at + 5] ?? 0,
        bannedAt: chunk[at + 6] ?? 0,
        lastUsedAt: chunk[at + 7] ?? 0,
      };
    },
    write: (row, usage) => {
      const chunk = rows.chunk(row);
      const at = rows.offset(row);
      chunk[at] = usage.minuteOpenedAt;
      chunk[at + 1] = usage.minuteUsed;
      chunk[at + 2] = usage.dayOpenedAt;
      chunk[at + 3] = usage.dayUsed;
      chunk[at + 4] = usage.refusals;
      chunk[at + 5] = usage.bans;
      chunk[at + 6] = usage.bannedAt;
      chunk[at + 7] = usage.lastUsedAt;
    },
  };
}
