/** Things that wait in order of arrival, none of them longer than the patience of the line. */
export interface WaitingLine<Thing> {
  add(thing: Thing): void;
  isEmpty(): boolean;
  /** The first `count` things; they stay. */
  first(count: number): readonly Thing[];
  /** Removes the first `count` things. */
  drop(count: number): void;
  /** Lets this many milliseconds of waiting pass for everything in the line. */
  pass(milliseconds: number): void;
  /** Removes and returns what has waited for as long as the line is patient, or longer. */
  takeExpired(): readonly Thing[];
}

/** A line in which a thing waits at most `patience` milliseconds: those counted by `pass`. */
export function createWaitingLine<Thing>(patience: number): WaitingLine<Thing> {
  const line: { readonly thing: Thing; readonly since: number }[] = [];
  let passed = 0;
  return {
    add: (thing) => {
      line.push({ thing, since: passed });
    },
    isEmpty: () => line.length === 0,
    first: (count) => line.slice(0, count).map(({ thing }) => thing),
    drop: (count) => {
      line.splice(0, count);
    },
    pass: (milliseconds) => {
      passed += milliseconds;
    },
    takeExpired: () => {
      const waiting = line.findIndex(({ since }) => passed - since < patience);
      return line.splice(0, waiting < 0 ? line.length : waiting).map(({ thing }) => thing);
    },
  };
}
