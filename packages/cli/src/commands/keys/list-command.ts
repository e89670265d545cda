import type { ApiKey, KeyError, KeyRing } from "@petstore/core";
import type { Command } from "commander";
import { ok, ResultAsync, type Result } from "neverthrow";
import { manyKeys } from "./describe-key.js";
import { openExistingStore, withStore } from "../../with-store.js";
import type { Reply } from "./reply.js";
import { subcommand, type CommonOptions } from "./subcommand.js";

/** `petstore keys list`. */
export function listCommand(reply: Reply): Command {
  return subcommand("list", "list all keys, with what they have used")
    .option("--banned", "only keys that are banned now")
    .action(async (options: CommonOptions & { readonly banned?: true }) => {
      const listed = await withStore(
        openExistingStore(options.database),
        ({ keys }) => new ResultAsync(everyKey(keys, options.banned)),
      );
      await reply(options, listed, manyKeys);
    });
}

async function everyKey(
  keys: KeyRing,
  banned: boolean | undefined,
): Promise<Result<readonly ApiKey[], KeyError>> {
  const all: ApiKey[] = [];
  let after: string | undefined;
  do {
    const page = await keys.list({ limit: 1_000, after, banned });
    if (page.isErr()) return page.map(() => all);
    all.push(...page.value.keys);
    after = page.value.next;
  } while (after !== undefined);
  return ok(all);
}
