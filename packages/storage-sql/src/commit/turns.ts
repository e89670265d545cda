/** Taken when the module is loaded: under the fake timers of a host's tests, calls are committed all the same. */
const { setImmediate } = globalThis;

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
  let shared = 0;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    commitAfter(lastShared > 1 ? gatherTurns : 0);
  };
  const commitAfter = (turns: number): void => {
    if (turns > 0) {
      setImmediate(commitAfter, turns - 1);
      return;
    }
    // Node runs the immediates of a turn in this order, and after each of them all promise reactions.
    for (const group of groups) setImmediate(commit, group);
    setImmediate(end);
  };
  const commit = (group: TurnTaker): void => {
    if (group.isWaiting()) shared = Math.max(shared, group.commit());
  };
  const end = (): void => {
    lastShared = shared;
    shared = 0;
    isScheduled = false;
    if (groups.some((group) => group.isWaiting())) schedule();
  };
  return { add: (group: TurnTaker): void => void groups.push(group), schedule };
}
