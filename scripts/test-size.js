// How large the randomised tests are: small in `npm test`, larger in CI (PETSTORE_TEST_SIZE=ci), largest in
// `npm run soak` (PETSTORE_TEST_SIZE=soak).

const size = process.env["PETSTORE_TEST_SIZE"] ?? "";

export const isSoak = size === "soak";

/**
 * How many of something to try, or how long it may take.
 * @param {number} byDefault
 * @param {number} inCi
 * @param {number} inSoak
 */
export function sized(byDefault, inCi, inSoak) {
  if (isSoak) return inSoak;
  return size === "ci" ? inCi : byDefault;
}

/** The seed of random choices: fixed by default and in CI, new in each soak; PETSTORE_SEED repeats one. */
export const seed = Number(process.env["PETSTORE_SEED"] ?? (isSoak ? Date.now() % 2 ** 31 : 4));
