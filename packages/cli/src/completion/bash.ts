import type { Level } from "./command-tree.js";

/** Returns the script for bash 3.2 and newer. Where nothing else fits, bash completes the names of files. */
export function bashCompletion(levels: readonly Level[]): string {
  return `_petstore() {
  local at=petstore word current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${levels.map(({ path }) => `"${path}"`).join(" | ")}) at="$at $word" ;;
    esac
  done
  local words options
  case "$at" in
${levels.map(wordsOf).join("\n")}
  esac
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in
${levels.flatMap(valuesOf).join("\n")}
    *) [[ $current == -* ]] && words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _petstore petstore`;
}

function wordsOf({ path, words, takesFiles, options }: Level): string {
  const optionNames = options.map(({ name }) => name).join(" ");
  const names = words.map(({ name }) => name).join(" ");
  const first = names === "" && !takesFiles ? optionNames : names;
  return `    "${path}") words="${first}" options="${optionNames}" ;;`;
}

function valuesOf({ path, options }: Level): readonly string[] {
  return options
    .filter(({ hasValue }) => hasValue)
    .map(({ name, choices }) => `    "${path} ${name}") words="${choices.join(" ")}" ;;`);
}
