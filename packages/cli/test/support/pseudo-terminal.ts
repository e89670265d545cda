import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";

/** Runs a command line of a shell on a new terminal of this size, with `script` of util-linux, until the test ends. */
export function runOnTerminal(command: string, columns: number, rows: number) {
  const line = `stty cols ${columns} rows ${rows}; exec ${command}`;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    env: { ...process.env, SHELL: "/bin/sh", TERM: "xterm-256color" },
  });
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (all += text));
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? -1);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    /** Everything that the terminal has received so far, with control sequences. */
    output: () => all,
    /** What the screen shows: the text since the cursor was last put to the top left. */
    screen: () => stripVTControlCharacters(all.split("\u001B[H").at(-1) ?? ""),
    /** Types these characters; `\u0003` is Ctrl-C. */
    type: (characters: string) => void child.stdin.write(characters),
    ended,
  };
}
