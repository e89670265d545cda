/** The outcome of a decision: the state to store and the result to return to the caller. */
export interface Step<State, Value> {
  /** The state to store. When it is left out, or is the state that was shown, nothing is stored. */
  readonly next?: State | undefined;
  readonly result: Value;
}

/**
 * A decision that a storage runs between its read and its write. It is synchronous and has no side
 * effects on stored data. A storage may run it more than once for one call; only the last run counts.
 */
export type Decide<Shown, State, Value> = (shown: Shown) => Step<State, Value>;
