import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { Command, CommanderError } from "commander";
import metadata from "../package.json" with { type: "json" };
import { consoleCommand } from "./console/console-command.js";
import { backupCommand, migrateCommand, restoreCommand } from "./database-commands.js";
import { keysCommand } from "./keys/keys-command.js";
import { example } from "./options.js";
import { exportCommand } from "./pets/export-pets.js";
import { importCommand } from "./pets/import-pets.js";
import { serveCommand } from "./serve/serve-command.js";
import { isServer, listenForStop } from "./stop-signal.js";
import type { CommandIO, ReportError, Streams, Terminal } from "./terminal.js";

/** Runs `petstore` with arguments. Resolves to the exit code: 0, or 1 after a line says why the command failed. */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  streams: Streams = process,
  stop = listenForStop(args),
): Promise<number> {
  let exitCode = 0;
  const report: ReportError = (message) => terminal.error(`petstore: ${message}`);
  const fail: ReportError = (message) => {
    report(message);
    exitCode = 1;
  };
  const io: CommandIO = { terminal, streams, stop, report, fail };
  const program = petstoreCommand(io);
  program.hook("preAction", (_, command) => {
    const { database } = command.opts<{ readonly database?: string }>();
    const isDatabase = (path: string) => database !== undefined && isFileOfDatabase(database, path);
    const problem = "it is a file of the database";
    if (isDatabase("/dev/stderr")) {
      // Commander would report the error there.
      if (!isDatabase("/dev/stdout"))
        terminal.out(`petstore: cannot write to standard error: ${problem}`);
      throw new CommanderError(1, "standard_error", problem);
    }
    if (isDatabase("/dev/stdout")) program.error(`cannot write to standard output: ${problem}`);
  });
  program.addCommand(helpCommand(program));
  inheritSettings(program);

  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    // Commander has already reported the error. It also throws after it has printed help.
    if (!(error instanceof CommanderError)) throw error;
    const problem = await terminal.written();
    if (problem !== undefined) fail(`the output could not be printed: ${problem}`);
    return error.exitCode || exitCode;
  } finally {
    stop.end();
  }
  if (exitCode !== 0 || isServer(args)) return exitCode;
  const problem = await terminal.written();
  if (problem !== undefined) fail(`done, but the result could not be printed: ${problem}`);
  return exitCode;
}

const PREFIX = /^error: /;

/** Commander's errors are reported on one line, like ours. */
function petstoreCommand(io: CommandIO): Command {
  const { terminal, report } = io;
  return new Command("petstore")
    .description(
      "Serve a pet store, manage its API keys, and import, export, back up and restore its pets.",
    )
    .version(metadata.version, "-V, --version", "print the version")
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
      outputError: (text) => report(text.trim().replace(PREFIX, "").replaceAll("\n", " ")),
    })
    .helpCommand(false)
    .addHelpText("after", example("petstore serve --first-key"))
    .addCommand(serveCommand(io))
    .addCommand(consoleCommand(io))
    .addCommand(keysCommand(io))
    .addCommand(petsCommand(io))
    .addCommand(backupCommand(io))
    .addCommand(restoreCommand(io))
    .addCommand(migrateCommand(io))
    .exitOverride();
}

function petsCommand(io: CommandIO): Command {
  return new Command("pets")
    .description("Import and export pets.")
    .addHelpText("after", example("petstore pets import pets.csv"))
    .addCommand(importCommand(io))
    .addCommand(exportCommand(io));
}

/** Commander's own takes the name of one command, not of a subcommand. */
function helpCommand(program: Command): Command {
  return new Command("help")
    .description("Show the help of a command.")
    .argument("[command...]", "the command, such as keys issue")
    .addHelpText("after", example("petstore help keys issue"))
    .action((names: readonly string[]) => {
      let command = program;
      for (const name of names) {
        const subcommand = command.commands.find((each) => each.name() === name);
        command = subcommand ?? program.error(`unknown command '${name}'`);
      }
      command.help();
    });
}

/** Commander passes settings only to subcommands that it created itself. */
function inheritSettings(command: Command): void {
  for (const each of command.commands) inheritSettings(each.copyInheritedSettings(command));
}
