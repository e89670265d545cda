import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { newDatabase, petstore, skipWithout } from "./support/command.js";
import { helpOfAll } from "./support/help.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";

/** Writes the script for a shell to a new folder with a file. Returns its path. */
async function scriptFor(shell: string): Promise<string> {
  const script = join(dirname(newDatabase()), "completion");
  const { code, out } = await petstore("completion", shell);
  expect(code).toBe(0);
  writeFileSync(script, out);
  writeFileSync(join(dirname(script), "a-file.csv"), "");
  return script;
}

/** Programs that print what a shell offers at the end of each line, and an empty line after it. */
const SHELLS = [
  [
    ["bash", "--norc", "-c"],
    `source "$1"; shift; for line; do COMP_WORDS=($line); [[ $line == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _petstore; printf '%s\\n' "\${COMPREPLY[@]}"; echo; done`,
    "bash",
  ],
  [
    ["fish", "--no-config", "-c"],
    "source $argv[1]; cd (dirname $argv[1]); for line in $argv[2..]; complete --do-complete $line; echo; end",
  ],
] as const;

/** The lines to complete for each command, and what --help shows of it: its options and commands. */
async function everything(): Promise<[string, readonly string[]][]> {
  return (await helpOfAll()).flatMap(({ words, options, commands }) => {
    const line = ["petstore", ...words].join(" ");
    const lists: [string, typeof options][] = [
      [`${line} --`, options],
      [`${line} `, commands],
    ];
    const filled = lists.filter(([, list]) => list.length > 0);
    return filled.map(([line, list]): [string, string[]] => [line, list.map(({ name }) => name)]);
  });
}

it.for(SHELLS.slice(0, sized(1, 2, 2)))(
  "completion %s offers every command, option and choice, and what begins with the letters so far",
  async ([[shell, ...options], ...code], { skip }) => {
    skipWithout(shell, skip);
    const expected: [string, readonly string[]][] = [
      ...(await everything()),
      ["petstore keys issue --plan ", ["free", "pro", "business", "enterprise"]],
      ["petstore keys list --sort u", ["use"]],
      ["petstore keys re", ["revoke"]],
      ["petstore keys issue --label x --pl", ["--plan"]],
      ["petstore completion ", ["bash", "fish", "zsh"]],
    ];
    const lines = expected.map(([line]) => line);
    const args = [...options, ...code, await scriptFor(shell), ...lines];
    const printed = execFileSync(shell, args, { encoding: "utf8" }).split(/^\n/m);
    // Behind a tab, fish describes it.
    const offered = printed.map((text) => text.replace(/\t.*/g, "").split("\n").filter(Boolean));
    expect(lines.map((line, index) => [line, offered[index]?.toSorted()])).toEqual(
      expected.map(([line, words]) => [line, words.toSorted()]),
    );
  },
);

/** What a person types, with Tab, and what the command then gets. */
const TYPED = [
  ["ke\tiss\t--pl\tent\t", "keys issue --plan enterprise"],
  ["keys list --wat\t", "keys list --watch"],
  ["pets import a-\t", "pets import a-file.csv"],
  ["serve --database a-\t", "serve --database a-file.csv"],
] as const;

const ECHO = 'petstore() { echo "got <$*>"; }';

const TERMINALS = [
  ["bash", "bash --norc --noprofile -i", ECHO],
  ["zsh", "zsh -f -i", `autoload -U compinit; compinit -u -D; ${ECHO}`],
  ["fish", "fish --no-config -i", 'function petstore; echo "got <$argv>"; end'],
] as const;

it.for(TERMINALS.slice(0, sized(1, 3, 3)))(
  "Tab in %s completes commands, options, choices and files",
  async ([shell, command, prepare], { skip }) => {
    skipWithout(shell, skip);
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
