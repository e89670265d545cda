import { Command } from "commander";
import { openStore, withStore } from "./open-store.js";
import { databaseOption, example, isPostgres, nameOf } from "./options.js";
import type { ReportError, Terminal } from "./terminal.js";
import { ok } from "neverthrow";

const HELP = `
Every command that opens a database brings its tables up to date. If the user of your servers has no right to
create tables in PostgreSQL, run this once with a user that has, or print the script and run it yourself.
`;

/** `petstore migrate`: brings the tables of the database up to date, or prints the script that does. */
export function migrateCommand(terminal: Terminal, fail: ReportError): Command {
  return new Command("migrate")
    .description("Create or update the tables of the database.")
    .addOption(databaseOption())
    .option("--print", "print the script for PostgreSQL instead of running it")
    .addHelpText("after", HELP + example("petstore migrate --print | psql --dbname petstore"))
    .action(async ({ database, print }: { readonly database: string; readonly print?: true }) => {
      if (print) {
        // eslint-disable-next-line no-restricted-syntax -- Most stores are files: pg is loaded only for PostgreSQL.
        const { postgresMigrations } = await import("@petstore/storage-postgres");
        terminal.out(postgresMigrations().trimEnd());
        return;
      }
      const migrated = await withStore(openStore(database), () => Promise.resolve(ok()));
      const where = isPostgres(database) ? nameOf(database) : database;
      migrated.match(() => terminal.out(`the tables of ${where} are up to date`), fail);
    });
}
