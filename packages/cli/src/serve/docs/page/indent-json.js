const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/**
 * Indents JSON text without other changes: numbers keep all their digits.
 *
 * @param {string} text
 */
export function indentJson(text) {
  let depth = 0;
  let indented = "";
  let previous = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === "]" || token === "}";
    const isFirst = previous === "[" || previous === "{";
    if (isEnd) depth -= 1;
    if (isEnd ? !isFirst : isFirst || previous === ",") indented += `\n${"  ".repeat(depth)}`;
    indented += token === ":" ? ": " : token;
    if (token === "[" || token === "{") depth += 1;
    previous = token;
  }
  return indented;
}
