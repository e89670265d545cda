/** The characters that a terminal would interpret or not show, except those that join others (emoji). */
const UNPRINTABLE = /(?![\u200C-\u200D\u{E0020}-\u{E007F}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces the characters that a terminal would interpret or not show, line breaks too. */
export function replaceUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, "\uFFFD");
}

/** Escapes the characters that a terminal would interpret or not show, as in JSON, except line feeds. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : character.split("").map(escapeUnit).join(""),
  );
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
