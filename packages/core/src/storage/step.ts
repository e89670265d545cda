/**
 * What a pure decision makes of the state that it is shown: what to store in its place, and what to
 * answer. `next` left out, or the very state that was shown, stores nothing.
 */
export interface Step<State, Answer> {
  readonly next?: State | undefined;
  readonly answer: Answer;
}

/**
 * A decision that a storage runs between reading and writing. It is synchronous and free of effects
 * on what is stored; a storage may run it more than once for one call and then only the last run
 * counts.
 */
export type Decide<Shown, State, Answer> = (shown: Shown) => Step<State, Answer>;
