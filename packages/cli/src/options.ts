import { InvalidArgumentError, Option } from "commander";

/** The option `--database`, which every command takes. */
export function databaseOption(): Option {
  return new Option("--database <file>", "the SQLite file that holds the store")
    .env("PETSTORE_DATABASE")
    .argParser(nonBlank("It must name a file."))
    .default("petstore.db");
}

/** Reads text that is not blank. SQLite, for example, opens a temporary database for a blank file name. */
export function nonBlank(problem: string): (text: string) => string {
  return (text) => {
    if (text.trim() === "") throw new InvalidArgumentError(problem);
    return text;
  };
}

/** Parses a whole number from `least` to `most`, in decimal digits. */
export function wholeNumber(least = 0, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const bounds =
    most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number, ${bounds}.`);
  };
}

/** Parses an ISO 8601 time, or a date, which means its midnight. Both are in UTC unless an offset follows. */
export function isoTime(text: string): Date {
  const [, date = "", clock = "T00:00", offset = "Z"] = ISO_TIME.exec(text) ?? [];
  const time = new Date(`${date}${clock}${offset}`);
  if (isOnCalendar(date) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("It must be an ISO 8601 time such as 2031-01-01T00:00:00Z.");
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** `Date` parses 31 February as 3 March. */
function isOnCalendar(date: string): boolean {
  const midnight = new Date(date);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
