import type { Level } from "./command-tree.js";

/** Returns the script for fish 3 and newer. */
export function fishCompletion(levels: readonly Level[]): string {
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
${levels.flatMap(linesOf).join("\n")}`;
}

function linesOf({ path, words, takesFiles, options }: Level): readonly string[] {
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
