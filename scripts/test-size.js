// How much is tested. `npm test` takes a minute. PETSTORE_TEST_SIZE=ci adds browsers, other shells, full disks and
// killed processes, and makes the randomised tests larger; `npm run soak` (PETSTORE_TEST_SIZE=soak) has the largest.

const size = process.env["PETSTORE_TEST_SIZE"] ?? "";

export const isSoak = size === "soak";

/** Whether the tests run that are left out of `npm test`, because they take long: in CI and in a soak. */
export const inCi = size === "ci" || isSoak;

/**
 * How many of something to try, or how long it may take.
 * @param {number} byDefault
 * @param {number} larger in CI
 * @param {number} largest in a soak
 */
export function sized(byDefault, larger, largest) {
  if (isSoak) return largest;
  return inCi ? larger : byDefault;
}

/** The seed of random choices: fixed by default and in CI, new in each soak; PETSTORE_SEED repeats one. */
export const seed = Number(process.env["PETSTORE_SEED"] ?? (isSoak ? Date.now() % 2 ** 31 : 4));
