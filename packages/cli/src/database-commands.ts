import { backupSqliteFile, restoreSqliteFile } from "@petstore/storage-sqlite";
import { Command } from "commander";
import { ok } from "neverthrow";
import { openStore, withStore } from "./open-store.js";
import { databaseFile, databaseOption, example, isPostgres, nameOf } from "./options.js";
import type { CommandIO } from "./terminal.js";

interface DatabaseOptions {
  readonly database: string;
  readonly check?: boolean;
  readonly overwrite?: true;
  readonly print?: true;
}

export function backupCommand({ terminal, stop, fail }: CommandIO): Command {
  return new Command("backup")
    .description("Copy the database to one file, even while servers use it.")
    .argument("<file>", "the file to create", databaseFile)
    .addOption(databaseOption())
    .option("--overwrite", "replace an existing file, but never a database that is in use")
    .option("--no-check", "do not read the whole backup to find damage")
    .addHelpText("after", BACKUP_HELP + example("petstore backup monday.db"))
    .action(async (file: string, { database, check, overwrite }: DatabaseOptions) => {
      if (isPostgres(database)) {
        fail("PostgreSQL has backups of its own: use pg_dump --format=custom, or base backups");
        return;
      }
      const files = { filename: database, to: file };
      const backup = await backupSqliteFile({ ...files, overwrite, check, signal: stop.signal });
      backup.match(
        ({ bytes }) => terminal.out(`backed up ${database} to ${file} (${megabytes(bytes)})`),
        ({ message }) => fail(`no backup of ${database}: ${message}`),
      );
    });
}

const BACKUP_HELP = `
The backup holds every pet and key that was stored before it began. It is an ordinary database file.
To restore it, stop the servers and run \`petstore restore\`.
`;

export function restoreCommand({ terminal, stop, fail }: CommandIO): Command {
  return new Command("restore")
    .description("Replace the database with a backup, and keep the old one beside it.")
    .argument("<backup>", "the backup to restore; it stays as it is", databaseFile)
    .addOption(databaseOption())
    .addHelpText("after", RESTORE_HELP + example("petstore restore monday.db"))
    .action(async (backup: string, { database }: DatabaseOptions) => {
      if (isPostgres(database)) {
        fail("PostgreSQL has backups of its own: use pg_restore");
        return;
      }
      const restored = await restoreSqliteFile({ backup, filename: database, signal: stop.signal });
      restored.match(
        ({ bytes, previous }) => {
          terminal.out(`restored ${database} from ${backup} (${megabytes(bytes)})`);
          if (previous !== undefined) terminal.out(`the old database is now ${previous}`);
        },
        ({ message }) => fail(`${database} was not restored from ${backup}: ${message}`),
      );
    });
}

const RESTORE_HELP = `
Stop the servers first: a database in use is refused. The old database stays beside the new one, with
the time at the end of its name. Keys and usage are those of the backup: a key that was revoked later
is valid again.
`;

export function migrateCommand({ terminal, report, fail }: CommandIO): Command {
  return new Command("migrate")
    .description("Create or update the tables of the database.")
    .addOption(databaseOption())
    .option("--print", "print the script for PostgreSQL instead of running it")
    .addHelpText("after", MIGRATE_HELP)
    .action(async ({ database, print }: DatabaseOptions) => {
      if (print) {
        // eslint-disable-next-line no-restricted-syntax -- Most stores are files: pg is loaded only for PostgreSQL.
        const { postgresMigrations } = await import("@petstore/storage-postgres");
        terminal.out(postgresMigrations().trimEnd());
        return;
      }
      const migrated = await withStore(openStore(database, report), () => Promise.resolve(ok()));
      migrated.match(() => terminal.out(`the tables of ${nameOf(database)} are up to date`), fail);
    });
}

const MIGRATE_HELP = `
Every command that opens a database brings its tables up to date. If the user of your servers has no right to
create tables in PostgreSQL, run this once with a user that has, or print the script and run it yourself.
${example("petstore migrate --print | psql --dbname petstore")}`;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
