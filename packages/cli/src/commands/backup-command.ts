import { backupSqliteFile } from "@petstore/storage-sqlite";
import { Command } from "commander";
import { databaseOption } from "../options.js";
import { listenForStop } from "../stop-signal.js";
import type { Terminal } from "../terminal.js";

interface BackupCommandOptions {
  readonly database: string;
  readonly force?: true;
}

const HELP = `
The backup holds every pet and key that was acknowledged before it began. It is a database like any
other: to go back to it, stop the servers, put it in the place of the database, and remove the files
beside it that end in -wal and -shm.`;

/** `petstore backup`: copies the database while it is in use. */
export function backupCommand(terminal: Terminal, fail: (message: string) => void): Command {
  return new Command("backup")
    .description("Copy the database, also beside a running server, into one file.")
    .argument("<file>", "the file to make")
    .addOption(databaseOption())
    .option("--force", "replace a file that is there already, but no database that is in use")
    .addHelpText("after", HELP)
    .action(async (file: string, { database, force }: BackupCommandOptions) => {
      const stop = listenForStop();
      const { signal } = stop;
      const options = { filename: database, to: file, overwrite: force, signal };
      const backup = await backupSqliteFile(options);
      stop.end();
      backup.match(
        ({ bytes }) => terminal.out(`backed up ${database} to ${file} (${megabytes(bytes)} MB)`),
        ({ message }) => fail(`no backup of ${database}: ${message}`),
      );
    });
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
