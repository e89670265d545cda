import {
  standardPlans,
  type ApiKey,
  type IssuedKey,
  type KeyError,
  type KeyRing,
  type PetStore,
  type Plan,
  type PurgedKeys,
  type RateLimits,
} from "@petstore/core";
import { limitOf, windowNames } from "@petstore/core/facts";
import { limitNames, systemClock, type EachField } from "@petstore/core/internal";
import { Argument, Command, Option } from "commander";
import type { Result } from "neverthrow";
import { openExistingStore, openStore, withStore } from "../open-store.js";
import {
  example,
  databaseOption,
  duration,
  futureTime,
  shortText,
  wholeNumber,
} from "../options.js";
import type { CommandIO } from "../terminal.js";
import { addListOptions, listKeys, type ListOptions } from "./list-keys.js";
import { exportKeysCommand, importKeysCommand } from "./move-keys.js";
import { issuedKey, keyList, purgedKeys, singleKey, type Renderer } from "./render-keys.js";

/** The options of all `petstore keys` commands. Each command declares the ones that it takes. */
interface KeyOptions extends LimitOptions, ListOptions {
  readonly database: string;
  readonly json?: true;
  readonly label?: string;
  readonly expires?: Date;
  readonly overlap?: number;
  readonly olderThan?: number;
}

/** Runs a command on the keys of a store with its options and arguments. */
type Action<T> = (
  keys: KeyRing,
  options: KeyOptions,
  args: readonly string[],
) => PromiseLike<Result<T, KeyError>>;

/** `petstore keys`: issues and manages API keys, even while servers use the database. */
export function keysCommand(io: CommandIO): Command {
  const add = <T>(subcommand: Subcommand<T>): Command => {
    const command = createSubcommand(subcommand, io);
    keys.addCommand(command);
    return command;
  };
  const keys = new Command("keys")
    .description("Issue and manage API keys.")
    .addHelpText("after", example("petstore keys issue --plan pro --label acme"));

  addLimits(add({ name: "issue", text: ISSUE, renderer: issuedKey, action: issue, creates: true }))
    .addOption(new Option("--plan <plan>", "the plan").choices(PLANS).makeOptionMandatory())
    .option("--label <text>", "a name by which to recognize the key", shortText(LABEL_LENGTH))
    .addOption(new Option("--expires <time>", EXPIRES).argParser(futureTime))
    .addHelpText("after", example("petstore keys issue --plan pro --label acme"));
  addListOptions(add({ name: "list", text: LIST, renderer: keyList, action: list(io) }), io);
  add({ name: "find", text: "Find one key by its id.", renderer: singleKey, action: find })
    .argument("<id>", ID)
    .addHelpText("after", example(`petstore keys find ${AN_ID}`));
  add({ name: "revoke", text: REVOKE, renderer: singleKey, action: revoke })
    .argument("<id>", ID)
    .addHelpText("after", example(`petstore keys revoke ${AN_ID}`));
  add({ name: "lift-ban", text: LIFT_BAN, renderer: singleKey, action: liftBan })
    .argument("<id>", ID)
    .addHelpText("after", example(`petstore keys lift-ban ${AN_ID}`));
  addLimits(
    add({ name: "change-plan", text: CHANGE_PLAN, renderer: singleKey, action: changePlan }),
  )
    .argument("<id>", ID)
    .addArgument(new Argument("<plan>", "the new plan").choices(PLANS))
    .addHelpText("after", example(`petstore keys change-plan ${AN_ID} business`));
  add({ name: "rotate", text: ROTATE, renderer: issuedKey, action: rotate })
    .argument("<id>", ID)
    .option("--overlap <seconds>", OVERLAP, wholeNumber(0, LONGEST_OVERLAP), 0)
    .addHelpText("after", example(`petstore keys rotate ${AN_ID} --overlap 3600`));
  add({ name: "end-secret", text: END_SECRET, renderer: singleKey, action: endSecret })
    .argument("<id>", ID)
    .argument("<hint>", HINT)
    .addHelpText("after", example(`petstore keys end-secret ${AN_ID} pet_live_3fQz`));
  add({ name: "purge", text: PURGE, renderer: purgedKeys, action: purge })
    .addOption(
      new Option("--older-than <duration>", OLDER_THAN).argParser(duration).makeOptionMandatory(),
    )
    .addHelpText("after", example("petstore keys purge --older-than 90d"));
  return keys.addCommand(exportKeysCommand(io)).addCommand(importKeysCommand(io));
}

/** A command on keys. */
interface Subcommand<T> {
  readonly name: string;
  readonly text: string;
  readonly renderer: Renderer<T>;
  readonly action: Action<T>;
  /** Whether it creates a database that does not exist. */
  readonly creates?: true;
}

function createSubcommand<T>(
  { name, text, renderer, action, creates }: Subcommand<T>,
  io: CommandIO,
): Command {
  const command: Command = new Command(name)
    .description(text)
    .addOption(databaseOption())
    .option("--json", "print JSON")
    .action(async () => {
      const options = command.opts<KeyOptions>();
      const { database } = options;
      const opening = creates ? openStore(database, io.report) : openExistingStore(database);
      const use = (store: PetStore) => action(store.keys, options, command.args);
      await print(options, await withStore(opening, use), renderer, io);
    });
  return command;
}

const ISSUE = "Issue a key and print its secret, which is shown only once.";
const LIST = "List all keys with their usage.";
const REVOKE = "Revoke a key permanently.";
const LIFT_BAN = "Lift a key's ban and forget earlier bans.";
const CHANGE_PLAN = "Move a key to another plan and keep its usage.";
const ROTATE = "Give a key a new secret and print it; it is shown only once.";
const END_SECRET =
  "End one secret of a key at once, such as one that has leaked; the others stay valid.";
const PURGE = "Remove keys that were revoked or expired long ago, with their usage.";
const OLDER_THAN = "how long ago a key must have ended: 90d, 12h, 30m or 45s";
const ID = "the key's id, as shown by `keys list`";
const HINT = "the first characters of the secret, as shown by `keys find`";
const EXPIRES = "when the key expires: an ISO 8601 date or time, in UTC unless it has an offset";
const OVERLAP = "how long the old secret stays valid";
const AN_ID = "key_0Vbe5dxn6zx4bfyp4I";

/** In characters, as in core. */
const LABEL_LENGTH = 200;
/** A year in seconds, as in core. */
const LONGEST_OVERLAP = 31_536_000;

const issue: Action<IssuedKey> = (keys, options) => {
  const { plan = "", label, expires: expiresAt } = options;
  return keys.issue({ plan, label, expiresAt, limits: limitsOf(options) });
};

const list =
  ({ streams, stop }: CommandIO): Action<readonly ApiKey[]> =>
  (keys, options) =>
    listKeys(keys, options, streams.stdout, stop.signal);

const find: Action<ApiKey> = (keys, _, [id = ""]) => keys.find(id);

const revoke: Action<ApiKey> = (keys, _, [id = ""]) => keys.revoke(id);

const liftBan: Action<ApiKey> = (keys, _, [id = ""]) => keys.liftBan(id);

const changePlan: Action<ApiKey> = (keys, options, [id = "", plan = ""]) =>
  keys.changePlan(id, { plan, limits: limitsOf(options) });

const rotate: Action<IssuedKey> = (keys, { overlap }, [id = ""]) =>
  keys.rotate(id, { overlapSeconds: overlap ?? 0 });

const endSecret: Action<ApiKey> = (keys, _, [id = "", hint = ""]) =>
  // As it is shown, too.
  keys.endSecret(id, hint.replace(/…$/, ""));

const purge: Action<PurgedKeys> = (keys, { olderThan }) =>
  keys.purge({ olderThanSeconds: olderThan ?? 0 });

/** Prints a result as text or JSON, or reports its error. */
async function print<T>(
  { json }: KeyOptions,
  result: Result<T, string>,
  renderer: Renderer<T>,
  { terminal, fail }: CommandIO,
): Promise<void> {
  if (result.isErr()) {
    fail(result.error);
    return;
  }
  const { value } = result;
  const view = { now: systemClock.now(), columns: terminal.columns };
  terminal.out(json ? JSON.stringify(renderer.json(value, view.now)) : renderer.text(value, view));
  if (renderer.isShownOnce !== true) return;
  const problem = await terminal.written(true);
  if (problem !== undefined) fail(`done, but the secret could not be printed: ${problem}`);
}

/** The names of the plans. */
const PLANS = Object.keys(standardPlans);

/** The options of a command that takes a plan; some take it as an argument. */
interface LimitOptions extends Partial<RateLimits> {
  readonly plan?: string;
}

const limitOptions = windowNames.map((name) => `--per-${name}`).join(" and ");

/** Adds the options for a key's own limits, and the list of plans, to a command that takes a plan. */
function addLimits(command: Command): Command {
  for (const name of windowNames) {
    const description = `requests per ${name}, for the enterprise plan`;
    command.option(`--per-${name} <n>`, description, wholeNumber(1));
  }
  return command.addHelpText("after", describePlans).hook("preAction", () => {
    const options = command.opts<LimitOptions>();
    const problem = problemWith(options.plan ?? command.args[1] ?? "", options);
    if (problem !== undefined) command.error(problem);
  });
}

/** Returns a key's own limits; `undefined` if its plan has fixed ones. */
function limitsOf({ perMinute, perDay }: LimitOptions): RateLimits | undefined {
  if (perMinute === undefined || perDay === undefined) return undefined;
  const limits: EachField<RateLimits> = { perMinute, perDay };
  return limits;
}

function problemWith(plan: string, options: LimitOptions): string | undefined {
  const given = limitNames.filter((name) => options[name] !== undefined);
  if (plan !== "enterprise") {
    if (given.length === 0) return undefined;
    return `the ${plan} plan has fixed limits: leave out ${limitOptions}`;
  }
  if (given.length === limitNames.length) return undefined;
  return `the enterprise plan needs ${limitOptions}`;
}

/** Called only when help is printed: Node loads its locale data for the first number, which takes 10 ms. */
function describePlans(): string {
  return `\nPlans:\n  ${Object.entries(standardPlans).map(describePlan).join("\n  ")}`;
}

function describePlan([name, plan]: readonly [string, Plan]): string {
  const limits =
    plan === "custom"
      ? `limits of the key's own: ${limitOptions}`
      : windowNames.map((name) => `${count(limitOf(plan, name))} requests per ${name}`).join(", ");
  return `${name.padEnd(10)}  ${limits}`;
}

function count(requests: number): string {
  return requests.toLocaleString("en");
}
