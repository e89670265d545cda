/** How long an observation may keep better ones of longer round trips away: clocks drift apart. */
const LONGEST_USE = 10_000;

/** A database whose clock jumps by more than this was set; less may be the time that a statement took. */
const SET = 1_000;

/** A clock that follows the database's, so that all servers on one database have the same time. */
export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** @param monotonic Milliseconds of a clock that is never set. */
export function createDatabaseClock(monotonic: () => number) {
  let best = { offset: 0, roundTrip: Infinity, at: -Infinity };
  let last = 0;
  return {
    monotonic,
    /** Learns from a statement that read the database's clock, between these two readings of `monotonic`. */
    observe: (databaseTime: number, sentAt: number, receivedAt: number): void => {
      const roundTrip = receivedAt - sentAt;
      const offset = databaseTime - (sentAt + receivedAt) / 2;
      const isSet = Math.abs(offset - best.offset) > SET + roundTrip / 2;
      const isOld = receivedAt - best.at > LONGEST_USE;
      if (isSet || isOld || roundTrip <= best.roundTrip)
        best = { offset, roundTrip, at: receivedAt };
    },
    now: (): number => {
      const time = monotonic() + best.offset;
      // Never backwards, unless the database's clock was set back.
      if (time > last || last - time > SET) last = time;
      return Math.floor(last);
    },
  };
}
