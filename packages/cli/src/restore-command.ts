import { restoreSqliteFile } from "@petstore/storage-sqlite";
import { Command } from "commander";
import { databaseFile, databaseOption, example, isPostgres } from "./options.js";
import { listenForStop } from "./stop-signal.js";
import type { ReportError, Terminal } from "./terminal.js";

const HELP = `
Stop the servers first: a database in use is refused. The old database stays beside the new one, with
the time at the end of its name. Keys and usage are those of the backup: a key that was revoked later
is valid again.
`;

/** `petstore restore`: replaces the database with a backup, while nothing uses it. */
export function restoreCommand(terminal: Terminal, fail: ReportError): Command {
  return new Command("restore")
    .description("Replace the database with a backup, and keep the old one beside it.")
    .argument("<backup>", "the backup to restore; it stays as it is", databaseFile)
    .addOption(databaseOption())
    .addHelpText("after", HELP + example("petstore restore monday.db"))
    .action(async (backup: string, { database }: { readonly database: string }) => {
      if (isPostgres(database)) {
        fail("PostgreSQL has backups of its own: use pg_restore");
        return;
      }
      const stop = listenForStop();
      const restored = await restoreSqliteFile({ backup, filename: database, signal: stop.signal });
      stop.end();
      restored.match(
        ({ bytes, previous }) => {
          terminal.out(`restored ${database} from ${backup} (${(bytes / 1e6).toFixed(1)} MB)`);
          if (previous !== undefined) terminal.out(`the old database is now ${previous}`);
        },
        ({ message }) => fail(`${database} was not restored from ${backup}: ${message}`),
      );
    });
}
