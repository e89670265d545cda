/** Whether a value is text that every storage keeps as it is: well-formed, without U+0000. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,255}$/.test(value);
}

/** The characters that a screen would interpret or not show, except those that join others (emoji). */
export const UNPRINTABLE = /(?![\u200C-\u200D\u{E0020}-\u{E007F}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces the characters that a screen would interpret or not show, line breaks too. */
export function replaceUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, "\uFFFD");
}

/** Returns a number with its noun, as messages have it: `1 second`, `60 seconds`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
