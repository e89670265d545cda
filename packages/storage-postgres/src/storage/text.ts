/**
 * Whether PostgreSQL can store this text. It refuses U+0000, and a lone surrogate would become U+FFFD. So
 * nothing stored has such a text.
 */
export function isText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
