import { type Command, Option } from "commander";
import { issuedKey } from "./describe-key.js";
import { isoTime } from "../../options.js";
import { openStore, withStore } from "../../with-store.js";
import type { Reply } from "./reply.js";
import {
  limitOptions,
  limitsOf,
  subcommand,
  type CommonOptions,
  type LimitOptions,
} from "./subcommand.js";

interface IssueOptions extends CommonOptions, LimitOptions {
  readonly plan: string;
  readonly label?: string;
  readonly expires?: Date;
}

/** `petstore keys issue`; makes the database when there is none yet. */
export function issueCommand(reply: Reply): Command {
  const [perMinute, perDay] = limitOptions();
  return subcommand("issue", "issue a key and print its secret, this once")
    .requiredOption("--plan <plan>", "free, pro, business or enterprise")
    .addOption(perMinute)
    .addOption(perDay)
    .option("--label <text>", "a name for people")
    .addOption(
      new Option(
        "--expires <time>",
        "refuse the key from this ISO 8601 date or time on, UTC unless it has an offset",
      ).argParser(isoTime),
    )
    .action(async (options: IssueOptions) => {
      const { plan, label, expires: expiresAt, database } = options;
      const issued = await withStore(openStore(database), ({ keys }) =>
        keys.issue({ plan, label, expiresAt, limits: limitsOf(options) }),
      );
      await reply(options, issued, issuedKey);
    });
}
