import { petstore } from "./command.js";

/** The help of a command and of all commands below it, with each argument, option and command that it lists. */
export async function helpOfAll(...words: readonly string[]): Promise<readonly Help[]> {
  const { out } = await petstore(...words, "--help");
  const listed = (heading: string): readonly Listed[] => {
    const [, list = ""] = new RegExp(`^${heading}:\n(.*?)(?:\n\n|$(?!\n))`, "ms").exec(out) ?? [];
    const entries = list.split(/\n(?= {2}\S)/).filter(Boolean);
    return entries.map((entry) => {
      const [, name = "", text = ""] =
        /^ {2}(?:-\w, )?(\S+)(?: \S+)*?(?: {2,}(.*))?$/s.exec(entry) ?? [];
      return { name, text: text.replace(/\s+/g, " ") };
    });
  };
  const [args, options, commands] = [listed("Arguments"), listed("Options"), listed("Commands")];
  // `help` shows another command.
  const others = commands.filter(({ name }) => name !== "help");
  const all: Help[] = [{ words, out, args, options, commands }];
  for (const { name } of others) all.push(...(await helpOfAll(...words, name)));
  return all;
}

interface Listed {
  readonly name: string;
  readonly text: string;
}

interface Help {
  readonly words: readonly string[];
  readonly out: string;
  readonly args: readonly Listed[];
  readonly options: readonly Listed[];
  readonly commands: readonly Listed[];
}
