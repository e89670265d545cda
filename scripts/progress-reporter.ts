/**
 * A reporter for long runs. Once a minute it prints how many test files have ended, and which tests run
 * since when.
 * @implements {import("vitest/reporters").Reporter}
 */
export default class ProgressReporter {
  #startedAt = performance.now();
  #files = 0;
  #filesEnded = 0;
  /** @type {Map<string, { name: string, since: number }>} */
  #running = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {readonly unknown[]} files */
  onTestRunStart(files) {
    this.#files = files.length;
    this.#timer = setInterval(() => this.#print(), 60_000);
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseReady(test) {
    const name = `${test.module.relativeModuleId}: ${test.name}`;
    this.#running.set(test.id, { name, since: performance.now() });
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseResult(test) {
    this.#running.delete(test.id);
  }

  onTestModuleEnd() {
    this.#filesEnded += 1;
  }

  onTestRunEnd() {
    clearInterval(this.#timer);
    this.#print();
  }

  #print() {
    console.log(`${minutesSince(this.#startedAt)}: ${this.#filesEnded} of ${this.#files} files`);
    for (const { name, since } of this.#running.values()) {
      console.log(`  ${minutesSince(since)} in ${name}`);
    }
  }
}

/** @param {number} time */
function minutesSince(time) {
  return `${Math.floor((performance.now() - time) / 60_000)} min`;
}
