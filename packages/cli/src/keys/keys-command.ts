import {
  systemClock,
  type ApiKey,
  type IssuedKey,
  type KeyError,
  type KeyRing,
  type PetStore,
  type RateLimits,
} from "@petstore/core";
import { Command, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { openExistingStore, openStore, withStore } from "../open-store.js";
import { databaseOption, isoTime, wholeNumber } from "../options.js";
import type { ReportError, Terminal } from "../terminal.js";
import { issuedKey, keyList, singleKey, type Renderer } from "./render-keys.js";

/** The options of all `petstore keys` commands. Each command declares the ones that it takes. */
interface KeyOptions {
  readonly database: string;
  readonly json?: true;
  readonly plan?: string;
  readonly label?: string;
  readonly expires?: Date;
  readonly banned?: true;
  readonly overlap?: number;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** Runs a command on the keys of a store with its options and arguments. */
type Action<T> = (
  keys: KeyRing,
  options: KeyOptions,
  args: readonly string[],
) => PromiseLike<Result<T, KeyError>>;

/** `petstore keys`: issues and manages API keys, even while servers use the database. */
export function keysCommand(terminal: Terminal, fail: ReportError): Command {
  const print = printer(terminal, fail);
  const keys = new Command("keys").description("Issue and manage API keys.");
  const add = <T>(
    name: string,
    description: string,
    renderer: Renderer<T>,
    action: Action<T>,
    open = openExistingStore,
  ): Command =>
    keys
      .command(name)
      .description(description)
      .addOption(databaseOption())
      .option("--json", "print JSON")
      .action(async (...parameters: readonly unknown[]) => {
        const command = parameters.at(-1);
        if (!(command instanceof Command)) return;
        const options = command.opts<KeyOptions>();
        const opening = open(options.database);
        const use = (store: PetStore) => action(store.keys, options, command.args);
        await print(options, await withStore(opening, use), renderer);
      });

  addLimits(add("issue", ISSUE, issuedKey, issue, openStore))
    .requiredOption("--plan <plan>", PLANS)
    .option("--label <text>", "a name by which to recognize the key")
    .addOption(new Option("--expires <time>", EXPIRES).argParser(isoTime));
  add("list", "List all keys with their usage.", keyList, list).option(
    "--banned",
    "only keys that are banned now",
  );
  add("show", "Show one key.", singleKey, show).argument("<id>", ID);
  add("revoke", "Revoke a key permanently.", singleKey, revoke).argument("<id>", ID);
  add("unban", "Lift a key's ban and forget earlier bans.", singleKey, unban).argument("<id>", ID);
  addLimits(add("plan", "Move a key to another plan and keep its usage.", singleKey, changePlan))
    .argument("<id>", ID)
    .argument("<plan>", PLANS);
  add("rotate", "Give a key a new secret and print it; it is shown only once.", issuedKey, rotate)
    .argument("<id>", ID)
    .option("--overlap <seconds>", "how long the old secret stays valid", wholeNumber(), 0);
  return keys;
}

const ISSUE = "Issue a key and print its secret, which is shown only once.";
const ID = "the key's id, as shown by `keys list`";
const PLANS = "free, pro, business or enterprise";
const EXPIRES = "when the key expires: an ISO 8601 date or time, in UTC unless it has an offset";

const issue: Action<IssuedKey> = (keys, options) => {
  const { plan = "", label, expires: expiresAt } = options;
  return keys.issue({ plan, label, expiresAt, limits: limitsOf(options) });
};

const list: Action<readonly ApiKey[]> = async (keys, { banned }) => {
  const all: ApiKey[] = [];
  let after: string | undefined;
  do {
    const page = await keys.list({ limit: 1_000, after, banned });
    if (page.isErr()) return err(page.error);
    all.push(...page.value.keys);
    after = page.value.next;
  } while (after !== undefined);
  return ok(all);
};

const show: Action<ApiKey> = (keys, _, [id = ""]) => keys.find(id);

const revoke: Action<ApiKey> = (keys, _, [id = ""]) => keys.revoke(id);

const unban: Action<ApiKey> = (keys, _, [id = ""]) => keys.liftBan(id);

const changePlan: Action<ApiKey> = (keys, options, [id = "", plan = ""]) =>
  keys.changePlan(id, { plan, limits: limitsOf(options) });

const rotate: Action<IssuedKey> = (keys, { overlap }, [id = ""]) =>
  keys.rotate(id, { overlapSeconds: overlap ?? 0 });

/** Returns a function that prints a result as text or JSON, or reports its error. */
function printer(terminal: Terminal, fail: ReportError) {
  return async <T>(
    { json }: KeyOptions,
    result: Result<T, string>,
    renderer: Renderer<T>,
  ): Promise<void> => {
    if (result.isErr()) {
      fail(result.error);
      return;
    }
    const { value } = result;
    const now = systemClock.now();
    terminal.out(json ? JSON.stringify(renderer.json(value)) : renderer.text(value, now));
    const problem = await terminal.written();
    if (problem !== undefined) fail(`done, but the result could not be printed: ${problem}`);
  };
}

function addLimits(command: Command): Command {
  return command
    .option("--per-minute <n>", "requests per minute, for the enterprise plan", wholeNumber())
    .option("--per-day <n>", "requests per day, for the enterprise plan", wholeNumber());
}

/** Returns the given limits, if any. The store refuses one without the other. */
function limitsOf({ perMinute, perDay }: KeyOptions): RateLimits | undefined {
  if (perMinute === undefined && perDay === undefined) return undefined;
  return { perMinute: perMinute ?? 0, perDay: perDay ?? 0 };
}
