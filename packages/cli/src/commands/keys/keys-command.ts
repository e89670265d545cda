import { systemClock } from "@petstore/core";
import { Command } from "commander";
import type { Terminal } from "../../terminal.js";
import { changeCommands } from "./change-commands.js";
import { issueCommand } from "./issue-command.js";
import { listCommand } from "./list-command.js";
import { createReply } from "./reply.js";
import { rotateCommand } from "./rotate-command.js";

/** `petstore keys …`: everything an operator does with API keys, also beside a running server. */
export function keysCommand(terminal: Terminal, fail: (message: string) => void): Command {
  const reply = createReply(terminal, systemClock, fail);
  const command = new Command("keys").description("Issue and manage API keys.");
  for (const each of [
    issueCommand(reply),
    listCommand(reply),
    ...changeCommands(reply),
    rotateCommand(reply),
  ]) {
    command.addCommand(each);
  }
  return command;
}
