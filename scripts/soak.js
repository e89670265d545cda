// How long the randomised tests run: `npm run soak` sets PETSTORE_SOAK=1 for the long run.

const soaking = process.env["PETSTORE_SOAK"] === "1";

/**
 * How many of something to try, or how long it may take.
 * @param {number} inCi
 * @param {number} inSoak
 */
export function many(inCi, inSoak) {
  return soaking ? inSoak : inCi;
}

/** What random choices are drawn from: fixed in CI, new in each long run; PETSTORE_SEED repeats one. */
export const seed = Number(process.env["PETSTORE_SEED"] ?? (soaking ? Date.now() % 2 ** 31 : 4));
