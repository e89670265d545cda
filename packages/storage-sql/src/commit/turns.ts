/** Taken when the module is loaded: under the fake timers of a host's tests, calls are committed all the same. */
const { setImmediate } = globalThis;
const nextTick = process.nextTick.bind(process);

export interface TurnTaker {
  /** Whether calls wait, and no commit is under way. */
  isWaiting(): boolean;
  /** Begins to commit what waits. Returns how many calls share the commit. */
  commit(): number;
}

/** Lets groups commit at the end of a turn of the event loop, one after another. */
export type Turns = ReturnType<typeof createTurns>;

/**
 * Creates the turns of groups that depend on each other. Before a group commits, the callers whose calls the group
 * before has committed go on, so that what they call next is committed in the same turn.
 * @param gatherTurns how many more turns to wait for further calls, if several shared a commit of the last turn
 */
export function createTurns(gatherTurns = 0) {
  const groups: TurnTaker[] = [];
  let isScheduled = false;
  let lastShared = 0;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    afterTurns(lastShared > 1 ? gatherTurns : 0, () => commitFrom(0, 0));
  };
  const commitFrom = (first: number, most: number): void => {
    const next = groups.findIndex((group, index) => index >= first && group.isWaiting());
    const calls = groups[next]?.commit();
    if (calls !== undefined) {
      afterReactions(() => commitFrom(next + 1, Math.max(most, calls)));
      return;
    }
    if (most > 0) lastShared = most;
    isScheduled = false;
    if (groups.some((group) => group.isWaiting())) schedule();
  };
  return { add: (group: TurnTaker): void => void groups.push(group), schedule };
}

/** Runs an action at the end of this turn of the event loop, or so many turns later. */
function afterTurns(turns: number, action: () => void): void {
  setImmediate(turns === 0 ? action : () => afterTurns(turns - 1, action));
}

/** Runs an action when all promise reactions have run: Node then runs the ticks that one of them has queued. */
function afterReactions(action: () => void): void {
  void Promise.resolve().then(() => nextTick(action));
}
