import type { RateLimits } from "@petstore/core";
import { Argument, Command, Option } from "commander";
import { databaseOption, wholeNumber } from "../../options.js";

/** What every `petstore keys …` takes. */
export interface CommonOptions {
  readonly database: string;
  readonly json?: true;
}

/** A key's own limits, as options. */
export interface LimitOptions {
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** A `petstore keys …` with the options that all of them take. */
export function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(databaseOption())
    .option("--json", "print JSON");
}

/** The key that a command is about. */
export function idArgument(): Argument {
  return new Argument("<id>", "the key's id, as `keys list` shows it");
}

/** The options for a key's own limits. */
export function limitOptions(): readonly [Option, Option] {
  return [
    new Option("--per-minute <n>", "requests per minute, on enterprise").argParser(wholeNumber),
    new Option("--per-day <n>", "requests per day, on enterprise").argParser(wholeNumber),
  ];
}

/** The limits given, or `undefined` when none is; one without the other is for the store to refuse. */
export function limitsOf({ perMinute, perDay }: LimitOptions): RateLimits | undefined {
  if (perMinute === undefined && perDay === undefined) return undefined;
  return { perMinute: perMinute ?? 0, perDay: perDay ?? 0 };
}
