// `N passed, N failed`, from the file that vitest's JSON reporter wrote. A test file that did not
// even load counts as one failure: vitest gives it no tests.
import { readFileSync } from "node:fs";

/** @type {{ numPassedTests: number, numFailedTests: number, testResults: { status: string, assertionResults: unknown[] }[] }} */
const results = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

const unloaded = results.testResults.filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
);
console.log(`${results.numPassedTests} passed, ${results.numFailedTests + unloaded.length} failed`);
