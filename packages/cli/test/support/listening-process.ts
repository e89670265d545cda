import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";

/** A process that serves. */
export interface ListeningProcess {
  /** The base address that it printed. */
  readonly url: string;
  /** Everything that it has printed so far. */
  readonly output: () => string;
  /** How it ended: its exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Waits until a `petstore serve` listens. It is killed when the test ends. */
export async function untilListening(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<ListeningProcess> {
  const ended = once(child, "exit").then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => code ?? signal ?? -1,
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`;
      const [, address] = /listens on (\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    void ended.then((how) => reject(new Error(`ended with ${how}: ${output}`)));
  });
  return { url, output: () => output, ended };
}
