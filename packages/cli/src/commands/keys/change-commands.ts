import type { ApiKey, KeyError, KeyRing } from "@petstore/core";
import type { Command } from "commander";
import type { ResultAsync } from "neverthrow";
import { oneKey } from "./describe-key.js";
import { openExistingStore, withStore } from "../../with-store.js";
import type { Reply } from "./reply.js";
import {
  idArgument,
  limitOptions,
  limitsOf,
  subcommand,
  type CommonOptions,
  type LimitOptions,
} from "./subcommand.js";

/** The `petstore keys …` that look at or change one key and then show it. */
export function changeCommands(reply: Reply): readonly Command[] {
  const act = async (
    options: CommonOptions,
    action: (keys: KeyRing) => ResultAsync<ApiKey, KeyError>,
  ): Promise<void> => {
    const store = openExistingStore(options.database);
    await reply(options, await withStore(store, ({ keys }) => action(keys)), oneKey);
  };
  const simple = (
    name: string,
    description: string,
    action: (keys: KeyRing, id: string) => ResultAsync<ApiKey, KeyError>,
  ): Command =>
    subcommand(name, description)
      .addArgument(idArgument())
      .action((id: string, options: CommonOptions) => act(options, (keys) => action(keys, id)));

  const [perMinute, perDay] = limitOptions();
  const plan = subcommand("plan", "put a key on another plan; what it has used stays used")
    .addArgument(idArgument())
    .argument("<plan>", "the plan's name")
    .addOption(perMinute)
    .addOption(perDay)
    .action((id: string, to: string, options: CommonOptions & LimitOptions) =>
      act(options, (keys) => keys.changePlan(id, { plan: to, limits: limitsOf(options) })),
    );

  return [
    simple("show", "show one key", (keys, id) => keys.find(id)),
    simple("revoke", "refuse a key from now on, for good", (keys, id) => keys.revoke(id)),
    simple("unban", "end a key's ban and forget those before", (keys, id) => keys.liftBan(id)),
    plan,
  ];
}
