import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";

/** A command on a terminal of its own, which is ended with the test. */
export interface OnTerminal {
  /** Everything that the terminal has received so far, with control sequences. */
  readonly output: () => string;
  /** What the screen shows: the text since the cursor was last put to the top left. */
  readonly screen: () => string;
  /** Types these characters; `\u0003` is Ctrl-C. */
  readonly type: (characters: string) => void;
  /** Sends a signal to the command. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The exit code. */
  readonly ended: Promise<number>;
}

/** Runs a command line of a shell on a new terminal of this size, with `script` of util-linux. */
export function runOnTerminal(command: string, columns: number, rows: number): OnTerminal {
  const child = spawn(
    "script",
    [
      "--quiet",
      "--return",
      "--command",
      `echo $$; stty cols ${columns} rows ${rows}; exec ${command}`,
      "/dev/null",
    ],
    { env: { ...process.env, SHELL: "/bin/sh", TERM: "xterm-256color" } },
  );
  let all = "";
  const output = (): string => all.replace(/^\d+\r\n/, "");
  child.stdout.setEncoding("utf8").on("data", (text: string) => (all += text));
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? -1);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    output,
    screen: () => stripVTControlCharacters(output().split("\u001B[H").at(-1) ?? ""),
    type: (characters) => void child.stdin.write(characters),
    kill: (signal) => process.kill(Number.parseInt(all), signal),
    ended,
  };
}
