import { runCommand } from "./run-command.js";

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  error: (line) => console.error(line),
});
