import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** A `petstore console` in a separate process, which is killed when the test ends. */
export interface StartedConsole {
  readonly database: string;
  /** The link that it printed. */
  readonly link: string;
  /** Everything that it has printed so far. */
  readonly output: () => string;
  /** Sends a signal and resolves to how it ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
}

/** Starts a console of this database. */
export async function startConsole(
  program: string,
  database: string,
  ...options: readonly string[]
): Promise<StartedConsole> {
  const args = ["console", "--database", database, ...options];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit").then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => code ?? signal ?? -1,
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const link = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`;
      const [found] = /http:\/\/\S+#token=\S+/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then((how) => reject(new Error(`ended with ${how}: ${output}`)));
  });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { database, link, output: () => output, end };
}
