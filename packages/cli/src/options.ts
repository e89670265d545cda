import { InvalidArgumentError, Option } from "commander";

/** Which file holds the store. */
export function databaseOption(): Option {
  return new Option("--database <file>", "the SQLite file that holds the store")
    .env("PETSTORE_DATABASE")
    .argParser(fileName)
    .default("petstore.db");
}

/** Reads the name of a file: SQLite would take an empty one for a database that nobody keeps. */
function fileName(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must name a file.");
}

/** Reads a whole number that is not negative. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError("It must be a whole number.");
}

/** Reads a whole number from `least` to `most`. */
export function numberFrom(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const number = wholeNumber(text);
    if (number >= least && number <= most) return number;
    const bounds = most < Number.MAX_SAFE_INTEGER ? `from ${least} to ${most}` : `from ${least} on`;
    throw new InvalidArgumentError(`It must be a whole number ${bounds}.`);
  };
}

/** Reads a TCP port, 0 for any that is free. */
export function port(text: string): number {
  const number = wholeNumber(text);
  if (number <= 65_535) return number;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}

/** Reads an ISO 8601 date, which is its midnight, or time; in UTC unless an offset follows. */
export function isoTime(text: string): Date {
  const [, date = "", clock = "T00:00", offset = "Z"] = ISO_TIME.exec(text) ?? [];
  const time = new Date(`${date}${clock}${offset}`);
  if (isOnCalendar(date) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("It must be an ISO 8601 time such as 2031-01-01T00:00:00Z.");
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** JavaScript takes 31 February for 3 March. */
function isOnCalendar(date: string): boolean {
  const midnight = new Date(date);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

/** Reads an address to listen on. An empty one would mean every interface, which nobody asked for. */
export function address(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must be an address.");
}
