/** A token or a quoted string (RFC 9110, section 5.6), and the parameters of a list's member. */
const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s;,"<>]*)`;
const PARAMETERS = String.raw`(?:\s*;\s*[^\s;,="<>]*(?:\s*=\s*${VALUE})?)*`;

/**
 * Returns the target of the first link to the next page in a `Link` (RFC 8288, section 3); `undefined` if there is none.
 * Of two `rel` in one link, the first counts, and a link with an `anchor` is not about this page.
 */
export function readNextLink(text: string): string | undefined {
  const links = [...text.matchAll(new RegExp(`<([^<>]*)>(${PARAMETERS})`, "g"))];
  const next = links.find(([, , parameters = ""]) => {
    const rel = readParameter(parameters, "rel") ?? "";
    const isNext = rel.toLowerCase().split(/\s+/).includes("next");
    return isNext && readParameter(parameters, "anchor") === undefined;
  });
  return next?.[1];
}

/** Our lists are short. Without a limit, quotes that do not end would take quadratic time. */
const LONGEST = 1_000;

/** Returns the parameters of the string with this value in a list of structured fields (RFC 9651, section 3.1). */
export function readMember(text: string, value: string): string | undefined {
  const member = new RegExp(`"((?:[^"\\\\]|\\\\.)*)"(${PARAMETERS})`, "g");
  return [...text.slice(0, LONGEST).matchAll(member)].find(([, name]) => name === value)?.[2];
}

/** Without quotes; the first of several. */
export function readParameter(parameters: string, name: string): string | undefined {
  const parameter = new RegExp(String.raw`;\s*([^\s;,="<>]*)(?:\s*=\s*(${VALUE}))?`, "g");
  const all = [...parameters.matchAll(parameter)];
  const found = all.find(([, key = ""]) => key.toLowerCase() === name);
  if (found === undefined) return undefined;
  const [, , value = ""] = found;
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

/** Returns a count of up to 2^53 - 1. A header that a gateway has written twice has its value twice. */
export function readCount(text: string | null | undefined): number | undefined {
  const [first = "", ...others] = (text ?? "").split(",").map((each) => each.trim());
  if (!/^\d{1,16}$/.test(first) || others.some((each) => each !== first)) return undefined;
  const count = Number(first);
  return Number.isSafeInteger(count) ? count : undefined;
}

/** At most 13 digits, so that milliseconds of it are exact enough. */
export function readSeconds(text: string | null | undefined): number | undefined {
  const seconds = readCount(text);
  return seconds !== undefined && seconds < 1e13 ? seconds : undefined;
}

const IMF = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;
const RFC_850 = /^\w{6,9}, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT$/;
const ASCTIME = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Returns the time of a date in one of the three forms of RFC 9110, section 5.6.7; `undefined` if it is none. */
export function readDate(text: string | null): number | undefined {
  const value = text ?? "";
  if (!IMF.test(value) && !RFC_850.test(value) && !ASCTIME.test(value)) return undefined;
  const time = Date.parse(ASCTIME.test(value) ? `${value} GMT` : value);
  return Number.isNaN(time) ? undefined : time;
}
