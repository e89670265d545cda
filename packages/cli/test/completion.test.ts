import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { newDatabase, petstore } from "./support/command.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", ":"]).status === 0;

const howToInstall = (shell: string): string =>
  `${shell} is not installed: run \`apt-get update && apt-get install -y ${shell}\`.`;

/** Writes the script for a shell to a new folder with a file. Returns its path. */
async function scriptFor(shell: string): Promise<string> {
  const script = join(dirname(newDatabase()), "completion");
  const { code, out } = await petstore("completion", shell);
  expect(code).toBe(0);
  writeFileSync(script, out);
  writeFileSync(join(dirname(script), "a-file.csv"), "");
  return script;
}

/** The words that a shell offers at the end of a line. */
type Complete = (script: string, line: string) => readonly string[];

const lines = (text: string): readonly string[] => text.split("\n").filter(Boolean);

const inBash: Complete = (script, line) => {
  const program = `source "$1"; COMP_WORDS=($2); [[ $2 == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _petstore; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(
    execFileSync("bash", ["--norc", "-c", program, "bash", script, line], { encoding: "utf8" }),
  );
};

const inFish: Complete = (script, line) => {
  const program = "source $argv[1]; cd (dirname $argv[1]); complete --do-complete $argv[2]";
  const offered = execFileSync("fish", ["--no-config", "-c", program, script, line], {
    encoding: "utf8",
  });
  return lines(offered).map((each) => each.split("\t")[0] ?? "");
};

const SHELLS = [
  ["bash", inBash],
  ["fish", inFish],
] as const;

describe.each(SHELLS)("completion %s offers", (shell, complete) => {
  it("every command and option that --help shows", async ({ skip }) => {
    skip(!isInstalled(shell), howToInstall(shell));
    const script = await scriptFor(shell);
    const visit = async (path: readonly string[]): Promise<void> => {
      const { out } = await petstore(...path, "--help");
      const options = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name);
      const line = ["petstore", ...path].join(" ");
      expect(complete(script, `${line} --`).toSorted(), line).toEqual(options.toSorted());
      const [, list = ""] = /\nCommands:\n(.*?)\n\n/s.exec(out) ?? [];
      const commands = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
      if (commands.length === 0) return;
      expect(complete(script, `${line} `).toSorted()).toEqual(commands.toSorted());
      // `help` shows another command.
      const others = commands.filter((command) => command !== "help");
      for (const command of others) await visit([...path, command]);
    };
    await visit([]);
  });

  it("choices, and what begins with the letters so far", async ({ skip }) => {
    skip(!isInstalled(shell), howToInstall(shell));
    const script = await scriptFor(shell);
    const plans = ["business", "enterprise", "free", "pro"];
    expect(complete(script, "petstore keys issue --plan ").toSorted()).toEqual(plans);
    expect(complete(script, "petstore keys list --sort u")).toEqual(["use"]);
    expect(complete(script, "petstore keys re")).toEqual(["revoke"]);
    expect(complete(script, "petstore keys issue --label x --pl")).toEqual(["--plan"]);
    expect(complete(script, "petstore completion ").toSorted()).toEqual(["bash", "fish", "zsh"]);
  });
});

/** What a person types, with Tab, and what the command then gets. */
const TYPED = [
  ["ke\tiss\t--pl\tent\t", "keys issue --plan enterprise"],
  ["keys list --wat\t", "keys list --watch"],
  ["pets import a-\t", "pets import a-file.csv"],
  ["serve --database a-\t", "serve --database a-file.csv"],
] as const;

const ECHO = 'petstore() { echo "got <$*>"; }';

it.for([
  ["bash", "bash --norc --noprofile -i", ECHO],
  ["zsh", "zsh -f -i", `autoload -U compinit; compinit -u -D; ${ECHO}`],
  ["fish", "fish --no-config -i", 'function petstore; echo "got <$argv>"; end'],
] as const)(
  "Tab in %s completes commands, options, choices and files",
  async ([shell, command, prepare], { skip }) => {
    skip(!isInstalled(shell), howToInstall(shell));
    const script = await scriptFor(shell);
    const { output, type } = runOnTerminal(command, 200, 24);
    type(`cd ${dirname(script)}; ${prepare}; source ${script}; echo rea''dy\r`);
    await expect.poll(output).toContain("ready\r\n");
    for (const [typed, got] of TYPED) {
      type(`petstore ${typed}\r`);
      await expect.poll(output).toContain(`got <${got}>`);
    }
  },
);
