import { Argument, Command } from "commander";
import { example } from "./options.js";
import type { CommandIO } from "./terminal.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `petstore completion`: prints a script that completes the commands and options of `program`. */
export function completionCommand(program: Command, { terminal }: CommandIO): Command {
  return new Command("completion")
    .description("Print a script that completes petstore's commands in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", HELP + example("petstore completion bash > petstore-completion.bash"))
    .action((shell: keyof typeof SHELLS) => {
      terminal.out(SHELLS[shell](levelsOf(program)));
    });
}

const HELP = `
To use it, add a line to the file that your shell reads when it starts:
  bash  source <(petstore completion bash)    in ~/.bashrc
  zsh   source <(petstore completion zsh)     in ~/.zshrc, behind compinit
  fish  petstore completion fish | source     in ~/.config/fish/config.fish
`;

/** What may follow a command on its line. */
interface Level {
  /** The command with its parents, such as `petstore keys issue`. */
  readonly path: string;
  /** The names of its commands, and the choices of its arguments. */
  readonly words: readonly Word[];
  /** Whether its arguments may be names of files. */
  readonly takesFiles: boolean;
  readonly options: readonly OptionWord[];
}

/** A word, and what it means in one line. */
interface Word {
  readonly name: string;
  readonly text: string;
}

/** An option, such as `--plan`. */
interface OptionWord extends Word {
  readonly hasValue: boolean;
  /** The values that it takes; none if it takes others. */
  readonly choices: readonly string[];
}

/** Returns what may follow a command and each of its commands, as in their help. */
function levelsOf(command: Command, parents = ""): readonly Level[] {
  const path = `${parents}${command.name()}`;
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const level: Level = {
    path,
    words: [
      ...commands.map((each) => ({ name: each.name(), text: help.subcommandDescription(each) })),
      ...choices.map((name) => ({ name, text: "" })),
    ],
    takesFiles: command.registeredArguments.some(({ argChoices }) => argChoices === undefined),
    options: help.visibleOptions(command).map(({ long, description, ...option }) => ({
      name: long ?? "",
      text: description,
      hasValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
  };
  return [level, ...commands.flatMap((each) => levelsOf(each, `${path} `))];
}

/** Returns the script for bash 3.2 and newer. Where nothing else fits, bash completes the names of files. */
function bashCompletion(levels: readonly Level[]): string {
  return `_petstore() {
  local at=petstore word current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${levels.map(({ path }) => `"${path}"`).join(" | ")}) at="$at $word" ;;
    esac
  done
  local words options
  case "$at" in
${levels.map(bashWords).join("\n")}
  esac
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in
${levels.flatMap(bashValues).join("\n")}
    *) [[ $current == -* ]] && words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _petstore petstore`;
}

function bashWords({ path, words, takesFiles, options }: Level): string {
  const optionNames = options.map(({ name }) => name).join(" ");
  const names = words.map(({ name }) => name).join(" ");
  const first = names === "" && !takesFiles ? optionNames : names;
  return `    "${path}") words="${first}" options="${optionNames}" ;;`;
}

function bashValues({ path, options }: Level): readonly string[] {
  return options
    .filter(({ hasValue }) => hasValue)
    .map(({ name, choices }) => `    "${path} ${name}") words="${choices.join(" ")}" ;;`);
}

/** Returns the script for zsh, to be sourced behind compinit, or to lie in a folder of $fpath as `_petstore`. */
function zshCompletion(levels: readonly Level[]): string {
  return `#compdef petstore
_petstore() {
  local at=petstore word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${levels.map(({ path }) => `"${path}"`).join(" | ")}) at="$at $word" ;;
    esac
  done
  local -a following options
  case "$at" in
${levels.map(zshWords).join("\n")}
  esac
  case "$at \${words[CURRENT-1]}" in
${levels.flatMap(zshValues).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( $#following )); then _describe command following
  else _files
  fi
}
if [[ $funcstack[1] == _petstore ]]; then _petstore "$@"; else compdef _petstore petstore; fi`;
}

function zshWords({ path, words, takesFiles, options }: Level): string {
  const first = words.length === 0 && !takesFiles ? options : words;
  return `    ("${path}") following=(${described(first)}) options=(${described(options)}) ;;`;
}

function zshValues({ path, options }: Level): readonly string[] {
  return options
    .filter(({ hasValue }) => hasValue)
    .map(({ name, choices }) => {
      const complete = choices.length > 0 ? `compadd -- ${choices.join(" ")}` : "_files";
      return `    ("${path} ${name}") ${complete}; return ;;`;
    });
}

/** A colon ends the name of a word. */
function described(words: readonly Word[]): string {
  return words.map(({ name, text }) => `'${`${name}:${text}`.replaceAll("'", "'\\''")}'`).join(" ");
}

/** Returns the script for fish 3 and newer. */
function fishCompletion(levels: readonly Level[]): string {
  return `function __petstore_at
  set -l at petstore
  for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
    switch "$at $word"
      case ${levels.map(({ path }) => `'${path}'`).join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
complete --command petstore --erase
${levels.flatMap(fishLines).join("\n")}`;
}

function fishLines({ path, words, takesFiles, options }: Level): readonly string[] {
  const start = `complete --command petstore --condition '__petstore_at ${path}'`;
  return [
    ...(takesFiles ? [] : [`${start} --no-files`]),
    ...words.map(({ name, text }) => `${start} --arguments ${name} --description ${quoted(text)}`),
    ...options.map(({ name, text, hasValue, choices }) => {
      const value =
        choices.length > 0
          ? `--exclusive --arguments '${choices.join(" ")}'`
          : "--require-parameter --force-files";
      return `${start} --long-option ${name.slice(2)} ${hasValue ? `${value} ` : ""}--description ${quoted(text)}`;
    }),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
