import { standardPlans, type ApiKey, type KeyError, type KeyRing } from "@petstore/core";
import type { RateLimits } from "@petstore/core";
import { isOptional, limitsIn, windowNames, type WindowName } from "@petstore/core/facts";
import { areRateLimits, limitNames, LONGEST_OVERLAP, systemClock } from "@petstore/core/internal";
import { Argument, Command, Option } from "commander";
import type { Result } from "neverthrow";
import { openExistingStore, openStore, withStore } from "../open-store.js";
import { databaseOption, duration, example, futureTime, label, wholeNumber } from "../options.js";
import { toJson, type CommandIO } from "../terminal.js";
import { addListOptions, listKeys, type ListOptions } from "./list-keys.js";
import { exportKeysCommand, importKeysCommand } from "./move-keys.js";
import { issuedKey, keyList, purgedKeys, singleKey, type Renderer } from "./render-keys.js";

interface KeyOptions extends Partial<RateLimits>, ListOptions {
  readonly database: string;
  readonly json?: true;
  readonly plan?: string;
  readonly label?: string;
  readonly expires?: Date;
  readonly overlap?: number;
  readonly olderThan?: number;
}

type Done<T> = PromiseLike<Result<T, KeyError>>;

interface Subcommand<T> {
  readonly description: string;
  /** What follows the name in the example of the help. */
  readonly example?: string;
  readonly renderer: Renderer<T>;
  readonly run: (keys: KeyRing, options: KeyOptions, args: readonly string[]) => Done<T>;
  /** Whether it creates a database that does not exist. */
  readonly creates?: true;
}

export function keysCommand(io: CommandIO): Command {
  const keys = new Command("keys")
    .description("Issue and manage API keys.")
    .addHelpText("after", example("petstore keys issue --plan pro --label acme"));
  const add = <T>(name: string, subcommand: Subcommand<T>): Command => {
    const command = createSubcommand(name, subcommand, io);
    keys.addCommand(command);
    return command;
  };
  const addForKey = <T>(name: string, { example = "", ...rest }: Subcommand<T>): Command =>
    add(name, { ...rest, example: `${AN_ID}${example}` }).argument("<id>", ID);
  const addToKey = (
    name: string,
    description: string,
    run: (keys: KeyRing, id: string) => Done<ApiKey>,
  ): Command =>
    addForKey(name, { description, renderer: singleKey, run: (all, _, [id = ""]) => run(all, id) });

  const issue = add("issue", {
    description: "Issue a key and print its secret, which is shown only once.",
    example: "--plan pro --label acme",
    renderer: issuedKey,
    run: (all, options) => {
      const { plan = "", label, expires: expiresAt } = options;
      return all.issue({ plan, label, expiresAt, limits: limitsOf(options) });
    },
    creates: true,
  });
  addLimits(issue)
    .addOption(new Option("--plan <plan>", "the plan").choices(PLANS).makeOptionMandatory())
    .option("--label <text>", "a name by which to recognize the key", label)
    .option("--expires <time>", EXPIRES, futureTime);
  const list = add("list", {
    description: "List all keys with their usage.",
    renderer: keyList,
    run: (all, options) => listKeys(all, options, io),
  });
  addListOptions(list, io);
  addToKey("find", "Find one key by its id.", (all, id) => all.find(id));
  addToKey("revoke", "Revoke a key permanently.", (all, id) => all.revoke(id));
  addToKey("lift-ban", "Lift a key's ban and forget earlier bans.", (all, id) => all.liftBan(id));
  const changePlan = addForKey("change-plan", {
    description: "Move a key to another plan and keep its usage.",
    example: " business",
    renderer: singleKey,
    run: (all, options, [id = "", plan = ""]) =>
      all.changePlan(id, { plan, limits: limitsOf(options) }),
  });
  addLimits(changePlan).addArgument(new Argument("<plan>", "the new plan").choices(PLANS));
  addForKey("rotate", {
    description: "Give a key a new secret and print it; it is shown only once.",
    example: " --overlap 3600",
    renderer: issuedKey,
    run: (all, { overlap = 0 }, [id = ""]) => all.rotate(id, { overlapSeconds: overlap }),
  }).option("--overlap <seconds>", OVERLAP, wholeNumber(0, LONGEST_OVERLAP), 0);
  addForKey("end-secret", {
    description:
      "End one secret of a key at once, such as one that has leaked; the others stay valid.",
    example: " pet_live_3fQz",
    renderer: singleKey,
    // The hint is also taken as it is shown.
    run: (all, _, [id = "", hint = ""]) => all.endSecret(id, hint.replace(/…$/, "")),
  }).argument("<hint>", "the first characters of the secret, as shown by `keys find`");
  add("purge", {
    description: "Remove keys that were revoked or expired long ago, with their usage.",
    example: "--older-than 90d",
    renderer: purgedKeys,
    run: (all, { olderThan = 0 }) => all.purge({ olderThanSeconds: olderThan }),
  }).requiredOption("--older-than <duration>", OLDER_THAN, duration);
  return keys.addCommand(exportKeysCommand(io)).addCommand(importKeysCommand(io));
}

const ID = "the key's id, as shown by `keys list`";
const AN_ID = "key_0Vbe5dxn6zx4bfyp4I";
const EXPIRES = "when the key expires: an ISO 8601 date or time, in UTC unless it has an offset";
const OVERLAP = "how long the old secret stays valid";
const OLDER_THAN = "how long ago a key must have ended: 90d, 12h, 30m or 45s";

function createSubcommand<T>(
  name: string,
  { description, example: shown, renderer, run, creates }: Subcommand<T>,
  { terminal, report, fail }: CommandIO,
): Command {
  const command: Command = new Command(name)
    .description(description)
    .addOption(databaseOption())
    .option("--json", "print JSON")
    .action(async () => {
      const options = command.opts<KeyOptions>();
      const { database, json } = options;
      const opening = creates ? openStore(database, report) : openExistingStore(database);
      const show = (value: T): void => {
        const now = systemClock.now();
        if (json) terminal.out(toJson(renderer.json(value, now)));
        else terminal.out(renderer.text(value, { now, columns: terminal.columns }));
      };
      // A secret is shown even if the store cannot be closed.
      const done = await withStore(opening, async ({ keys }) =>
        (await run(keys, options, command.args)).map(show),
      );
      if (done.isErr()) fail(done.error);
      if (renderer.isShownOnce !== true) return;
      const problem = await terminal.written(true);
      if (problem !== undefined) fail(`done, but the secret could not be printed: ${problem}`);
    });
  if (shown !== undefined) command.addHelpText("after", example(`petstore keys ${name} ${shown}`));
  return command;
}

const PLANS = Object.keys(standardPlans);

const optionsFor = (names: readonly WindowName[]): string =>
  names.map((name) => `--per-${name}`).join(" and ");
const NEEDED = optionsFor(windowNames.filter((name) => !isOptional(name)));

function addLimits(command: Command): Command {
  for (const name of windowNames) {
    const description = `requests per ${name}, for the enterprise plan`;
    command.option(`--per-${name} <n>`, description, wholeNumber(1));
  }
  return command.addHelpText("after", describePlans).hook("preAction", () => {
    const options = command.opts<KeyOptions>();
    const plan = options.plan ?? command.args[1] ?? "";
    const given = limitsIn(options).map(([window]) => window);
    if (plan === "enterprise") {
      if (limitsOf(options) === undefined) command.error(`the enterprise plan needs ${NEEDED}`);
    } else if (given.length > 0)
      command.error(`the ${plan} plan has fixed limits: leave out ${optionsFor(given)}`);
  });
}

/** `undefined` if none or too few are given. */
function limitsOf(options: KeyOptions): RateLimits | undefined {
  const given = Object.fromEntries(limitNames.map((name) => [name, options[name]]));
  return areRateLimits(given) ? given : undefined;
}

/** Called only when help is printed: Node loads its locale data for the first number, which takes 10 ms. */
function describePlans(): string {
  const plans = Object.entries(standardPlans).map(([name, plan]) => {
    const limits = limitsIn(plan === "custom" ? {} : plan).map(
      ([window, limit]) => `${limit.toLocaleString("en")} requests per ${window}`,
    );
    return `${name.padEnd(10)}  ${limits.join(", ") || `limits of the key's own: ${NEEDED}`}`;
  });
  return `\nPlans:\n  ${plans.join("\n  ")}`;
}
