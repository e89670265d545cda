// How much is tested. `npm test` leaves out what takes long: most pages, other shells, full disks, killed processes.
// With PETSTORE_TEST_SIZE=ci they are tested too, and randomised tests are larger; `npm run soak` has the largest.

const size = process.env["PETSTORE_TEST_SIZE"] ?? "";

export const isSoak = size === "soak";

/** Whether this run includes what takes too long for `npm test`: in CI and in a soak. */
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
