import type { Level, Word } from "./command-tree.js";

/** Returns the script for zsh, to be sourced behind compinit, or to lie in a folder of $fpath as `_petstore`. */
export function zshCompletion(levels: readonly Level[]): string {
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
${levels.map(wordsOf).join("\n")}
  esac
  case "$at \${words[CURRENT-1]}" in
${levels.flatMap(valuesOf).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( $#following )); then _describe command following
  else _files
  fi
}
if [[ $funcstack[1] == _petstore ]]; then _petstore "$@"; else compdef _petstore petstore; fi`;
}

function wordsOf({ path, words, takesFiles, options }: Level): string {
  const first = words.length === 0 && !takesFiles ? options : words;
  return `    ("${path}") following=(${described(first)}) options=(${described(options)}) ;;`;
}

function valuesOf({ path, options }: Level): readonly string[] {
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
