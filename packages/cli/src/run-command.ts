import { Command, CommanderError } from "commander";
import metadata from "../package.json" with { type: "json" };
import { backupCommand } from "./commands/backup-command.js";
import { keysCommand } from "./commands/keys/keys-command.js";
import { petsCommand } from "./commands/pets/pets-command.js";
import { serveCommand } from "./commands/serve-command.js";
import type { Streams } from "./streams.js";
import type { Terminal } from "./terminal.js";

/**
 * Runs the `petstore` command with these arguments.
 * Resolves to the exit code: 0, or 1 when it failed, after one line that says why.
 */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  streams: Streams = process,
): Promise<number> {
  let exitCode = 0;
  const fail = (message: string): void => {
    terminal.error(`petstore: ${message}`);
    exitCode = 1;
  };
  const program = new Command("petstore")
    .description("Serve a pet store, manage its API keys, and keep its pets safe.")
    .version(metadata.version, "--version", "print the version")
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
    })
    .exitOverride();
  program
    .addCommand(serveCommand(terminal, streams, fail))
    .addCommand(keysCommand(terminal, fail))
    .addCommand(petsCommand(terminal, streams, fail))
    .addCommand(backupCommand(terminal, fail));
  inheritSettings(program);

  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (thrown) {
    // Commander has already said what it found, and "throws" help as well.
    if (!(thrown instanceof CommanderError)) throw thrown;
    const problem = await terminal.written();
    if (problem !== undefined) fail(`what was asked for could not be written: ${problem}`);
    return thrown.exitCode || exitCode;
  }
  return exitCode;
}

/** Commander passes settings on only to subcommands that it made itself. */
function inheritSettings(command: Command): void {
  for (const each of command.commands) inheritSettings(each.copyInheritedSettings(command));
}
