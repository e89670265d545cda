import type { Reporter, TestCase } from "vitest/node";

/** Prints once a minute how many test files have ended, and since when which tests run. For long runs. */
export default class ProgressReporter implements Reporter {
  readonly #startedAt = performance.now();
  readonly #running = new Map<string, { readonly name: string; readonly since: number }>();
  #files = 0;
  #filesEnded = 0;
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(files: readonly unknown[]): void {
    this.#files = files.length;
    this.#timer = setInterval(() => this.#print(), 60_000);
  }

  onTestCaseReady({ id, name, module }: TestCase): void {
    const since = performance.now();
    this.#running.set(id, { name: `${module.relativeModuleId}: ${name}`, since });
  }

  onTestCaseResult({ id }: TestCase): void {
    this.#running.delete(id);
  }

  onTestModuleEnd(): void {
    this.#filesEnded += 1;
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#print();
  }

  #print(): void {
    const files = `${this.#filesEnded} of ${this.#files} test files`;
    const tests = [...this.#running.values()].map(
      ({ name, since }) => `\n  ${minutesSince(since)} min in ${name}`,
    );
    console.log(`After ${minutesSince(this.#startedAt)} min: ${files}${tests.join("")}`);
  }
}

function minutesSince(time: number): number {
  return Math.floor((performance.now() - time) / 60_000);
}
