import { type Command, Option } from "commander";
import { issuedKey } from "./describe-key.js";
import { wholeNumber } from "../../options.js";
import { openExistingStore, withStore } from "../../with-store.js";
import type { Reply } from "./reply.js";
import { idArgument, subcommand, type CommonOptions } from "./subcommand.js";

/** `petstore keys rotate`. */
export function rotateCommand(reply: Reply): Command {
  return subcommand("rotate", "give a key a new secret and print it, this once")
    .addArgument(idArgument())
    .addOption(
      new Option("--overlap <seconds>", "how long the old secret stays accepted")
        .argParser(wholeNumber)
        .default(0),
    )
    .action(async (id: string, options: CommonOptions & { readonly overlap: number }) => {
      const rotated = await withStore(openExistingStore(options.database), ({ keys }) =>
        keys.rotate(id, { overlapSeconds: options.overlap }),
      );
      await reply(options, rotated, issuedKey);
    });
}
