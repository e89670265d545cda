/** Whether valid JSON text nests arrays and objects deeper than `limit` levels. */
export function isDeeperThan(limit: number, text: string): boolean {
  // Every level takes two brackets.
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}
