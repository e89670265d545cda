import { LABEL_LENGTH, LONGEST_AGE, systemClock } from "@petstore/core/internal";
import { InvalidArgumentError, Option } from "commander";

export const IN_MEMORY = ":memory:";

const DATABASE = "the SQLite file that holds the store, or the URL of a PostgreSQL database";

/** Only a server can use a database in memory. */
export function databaseOption(parse: (text: string) => string = databaseFile): Option {
  return new Option("--database <file or URL>", DATABASE)
    .env("PETSTORE_DATABASE")
    .argParser(parse)
    .default("petstore.db");
}

/** A wrong URL is not a file, either: it may have a password, be in quotes, or lack its scheme or a part of it. */
export function isPostgres(database: string): boolean {
  return /^\s*(?:postgres(?:ql)?:|[a-z][a-z\d+.-]+:\/)|:\/\/|\/\/[^/]*:.*@|^[^/\\:]{2,}:.+@[^/]+\/|\bpassword\s*=/i.test(
    database,
  );
}

/** For people: a URL without its password, and without the rest if it may have some of it. */
export function nameOf(database: string): string {
  if (!isPostgres(database)) return database;
  if (!/^postgres(?:ql)?:\/\//i.test(database) || !URL.canParse(database)) return "postgres://…";
  const url = new URL(database);
  const { pathname, search, hash, username, searchParams } = url;
  const users = `${username}${searchParams.getAll("user").join("")}`;
  if (hash || /@|%40/.test(pathname + search) || /:|%3a/i.test(users)) return "postgres://…";
  url.password = "";
  for (const name of [...searchParams.keys()]) if (!SHOWN.includes(name)) searchParams.delete(name);
  return url.href;
}

/** The parameters of a URL that are no secrets. */
const SHOWN = ["user", "host", "port", "sslmode", "sslrootcert", "uselibpqcompat"];

export function databaseFile(text: string): string {
  if (text !== IN_MEMORY) return fileName(text);
  throw new InvalidArgumentError("It must be a file: a database in memory ends with the command.");
}

/** For a blank name, SQLite opens a temporary database; of another one, its driver cuts white space off. */
export function fileName(text: string): string {
  if (isPostgres(text) || (text !== "" && text === text.trim())) return text;
  throw new InvalidArgumentError("It must name a file, without white space around it.");
}

export function example(line: string): string {
  return `\nExample:\n  ${line}`;
}

/** `a,b` is the same as `a` and then `b`. */
export function commaSeparated(text: string): readonly string[] {
  return text.split(",").map((value) => value.trim());
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
  return (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
  };
}

/** Parses a duration such as `90d`, in days, hours, minutes or seconds. Returns seconds. */
export function duration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,10})([dhms])$/.exec(text) ?? [];
  const seconds = Number(digits) * (SECONDS[unit] ?? NaN);
  if (seconds <= LONGEST_AGE) return seconds;
  throw new InvalidArgumentError("It must be a duration such as 90d, 12h, 30m or 45s.");
}

const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

export function label(text: string): string {
  if (text.length <= LABEL_LENGTH) return text;
  throw new InvalidArgumentError(`It must have at most ${LABEL_LENGTH} characters.`);
}

/** Parses a future time of ISO 8601, or a date, which means its midnight. Both are in UTC unless an offset follows. */
export function futureTime(text: string): Date {
  const [, date = "", clock = "T00:00", offset = "Z"] = ISO_TIME.exec(text) ?? [];
  const time = new Date(`${date}${clock}${offset}`);
  // `Date` parses 31 February as 3 March.
  if (Number.isNaN(time.getTime()) || !new Date(date).toISOString().startsWith(date))
    throw new InvalidArgumentError("It must be an ISO 8601 time such as 2031-01-01T00:00:00Z.");
  if (time.getTime() > systemClock.now()) return time;
  throw new InvalidArgumentError("It must be in the future.");
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;
