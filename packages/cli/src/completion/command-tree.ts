import type { Command } from "commander";

/** What may follow a command on its line. */
export interface Level {
  /** The command with its parents, such as `petstore keys issue`. */
  readonly path: string;
  /** The names of its commands, and the choices of its arguments. */
  readonly words: readonly Word[];
  /** Whether its arguments may be names of files. */
  readonly takesFiles: boolean;
  readonly options: readonly OptionWord[];
}

/** A word, and what it means in one line. */
export interface Word {
  readonly name: string;
  readonly text: string;
}

/** An option, such as `--plan`. */
export interface OptionWord extends Word {
  readonly hasValue: boolean;
  /** The values that it takes; none if it takes others. */
  readonly choices: readonly string[];
}

/** Returns what may follow a command and each of its commands, as in their help. */
export function levelsOf(command: Command, parents = ""): readonly Level[] {
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
