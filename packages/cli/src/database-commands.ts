import { backupSqliteFile } from "@petstore/storage-sqlite";
import { Command } from "commander";
import { example, databaseFile, databaseOption, isPostgres } from "./options.js";
import { listenForStop } from "./stop-signal.js";
import type { ReportError, Terminal } from "./terminal.js";

interface BackupOptions {
  readonly database: string;
  readonly force?: true;
}

const HELP = `
The backup holds every pet and key that was stored before it began. It is an ordinary database file.
To restore it, stop the servers and run \`petstore restore\`.
`;

/** `petstore backup`: copies the database, even while servers use it. */
export function backupCommand(terminal: Terminal, fail: ReportError): Command {
  return new Command("backup")
    .description("Copy the database to one file, even while servers use it.")
    .argument("<file>", "the file to create", databaseFile)
    .addOption(databaseOption())
    .option("--force", "replace an existing file, but never a database that is in use")
    .addHelpText("after", HELP + example("petstore backup monday.db"))
    .action(async (file: string, { database, force }: BackupOptions) => {
      if (isPostgres(database)) {
        fail("PostgreSQL has backups of its own: use pg_dump --format=custom, or base backups");
        return;
      }
      const stop = listenForStop();
      const backup = await backupSqliteFile({
        filename: database,
        to: file,
        overwrite: force,
        signal: stop.signal,
      });
      stop.end();
      backup.match(
        ({ bytes }) =>
          terminal.out(`backed up ${database} to ${file} (${(bytes / 1e6).toFixed(1)} MB)`),
        ({ message }) => fail(`no backup of ${database}: ${message}`),
      );
    });
}
