import { setTimeout } from "node:timers/promises";
import type { ApiKey, KeyError, KeyRing } from "@petstore/core";
import { windowNames } from "@petstore/core/facts";
import { byUse, systemClock } from "@petstore/core/internal";
import { Option, type Command } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../describe-error.js";
import { example } from "../options.js";
import { columnsOf, counted, escapeUnprintable } from "../terminal.js";
import type { CommandIO, Streams } from "../terminal.js";
import { keysOnScreen } from "./render-keys.js";

const ORDERS = ["issue", "use"] as const;

export interface ListOptions {
  readonly banned?: true;
  readonly sort?: (typeof ORDERS)[number];
  readonly watch?: true;
}

export function addListOptions(command: Command, { streams }: CommandIO): Command {
  return command
    .option("--banned", "only keys that are banned now")
    .addOption(new Option("--sort <order>", SORT).choices(ORDERS))
    .addOption(new Option("--watch", WATCH).conflicts("json"))
    .hook("preAction", () => {
      if (command.getOptionValue("watch") === true && streams.stdout.isTTY !== true)
        command.error("--watch needs a terminal: leave it out");
    })
    .addHelpText("after", LIST_HELP + example("petstore keys list --banned"));
}

const BY_USE = `by use in this ${windowNames.join(", then ")}`;
const SORT = `the order: as issued, or ${BY_USE} (default: issue; with --watch, use)`;
const WATCH = "show the list on the whole terminal, every two seconds, until Ctrl-C";
const LIST_HELP = `
Times are in UTC. Columns that do not fit a terminal are left out; a pipe and --json get everything.
`;

type Listed = Result<readonly ApiKey[], KeyError>;

export async function listKeys(
  keys: KeyRing,
  { banned, sort, watch }: ListOptions,
  { streams, stop }: CommandIO,
): Promise<Listed> {
  const order = sort ?? (watch ? "use" : "issue");
  const read = async (): Promise<Listed> => {
    const all: ApiKey[] = [];
    let after: string | undefined;
    do {
      const page = await keys.list({ limit: 1_000, after, banned });
      if (page.isErr()) return err(page.error);
      all.push(...page.value.keys);
      after = page.value.next;
    } while (after !== undefined);
    return ok(order === "use" ? all.sort(byUse) : all);
  };
  return watch ? ok(await watchKeys(read, streams.stdout, stop.signal)) : read();
}

/** How long a list is shown, in milliseconds. */
const INTERVAL = 2_000;
/** The time, an empty line, the heading of the table, and an empty line at the end. */
const LINES_AROUND = 4;

/** Shows the keys, or why they cannot be read, on the whole terminal until a signal. Resolves to those it showed last. */
async function watchKeys(
  read: () => Promise<Listed>,
  stdout: Streams["stdout"],
  signal: AbortSignal,
): Promise<readonly ApiKey[]> {
  stdout.write(OPEN);
  // At once, because a database may take seconds to respond.
  signal.addEventListener("abort", () => stdout.write(CLOSE));
  let shown: readonly ApiKey[] = [];
  const rows = (): number => (stdout.rows === 0 ? 24 : (stdout.rows ?? 24));
  const isStopping = (): boolean => signal.aborted;
  while (!isStopping()) {
    const listed = await read();
    if (isStopping()) break;
    const now = systemClock.now();
    const text = listed.match(
      (keys) => {
        shown = keys.slice(0, Math.max(1, rows() - LINES_AROUND));
        const all = counted(keys.length, "key");
        const heading = shown.length < keys.length ? `${all}, ${shown.length} shown` : all;
        return `${heading}\n\n${keysOnScreen(shown, { now, columns: columnsOf(stdout) ?? 80 })}`;
      },
      (error) => escapeUnprintable(describeStoreError(error)),
    );
    const time = new Date(now).toISOString().slice(11, 19);
    stdout.write(onScreen(`${time} UTC  ${text}`));
    await setTimeout(INTERVAL, undefined, { signal }).catch(() => undefined);
  }
  return shown;
}

/** Control sequences of xterm, which all terminals of today know: the whole terminal without a cursor, and back. */
const OPEN = "\u001B[?1049h\u001B[?25l";
const CLOSE = "\u001B[?25h\u001B[?1049l";

/** Begins at the top left. Each line is erased before it is written; afterwards, a full line would lose its last character. */
function onScreen(text: string): string {
  return `\u001B[H\u001B[K${text.replaceAll("\n", "\n\u001B[K")}\n\u001B[J`;
}
