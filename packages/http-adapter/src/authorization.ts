const BEARER = /^bearer +(\S.*)$/i;

/**
 * The API key in a request's Authorization lines, or `undefined` when they hold no bearer
 * credential: no line, another scheme (RFC 6750, section 3.1: no authentication information), or
 * nothing after the scheme. Several lines contradict each other and become a text that is no key.
 */
export function apiKeyOf(lines: readonly string[]): string | undefined {
  const [line, ...others] = lines;
  if (line === undefined) return undefined;
  return others.length === 0 ? BEARER.exec(line)?.[1] : lines.join(", ");
}
