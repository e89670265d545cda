import { InvalidArgumentError, Option } from "commander";

/** Which file holds the store. */
export function databaseOption(): Option {
  return new Option("--database <file>", "the SQLite file that holds the store")
    .env("PETSTORE_DATABASE")
    .default("petstore.db");
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

/** Reads an ISO 8601 date or time. */
export function isoTime(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("It must be an ISO 8601 time such as 2031-01-01T00:00:00Z.");
}
