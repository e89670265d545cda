import { Argument, Command } from "commander";
import { example } from "../options.js";
import type { CommandIO } from "../terminal.js";
import { bashCompletion } from "./bash.js";
import { levelsOf } from "./command-tree.js";
import { fishCompletion } from "./fish.js";
import { zshCompletion } from "./zsh.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `petstore completion`: prints a script that completes the commands and options of `program`. */
export function completionCommand(program: Command, { terminal }: CommandIO): Command {
  return new Command("completion")
    .description("Print a script that completes petstore's commands in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", HELP + example("petstore completion bash > petstore-completion.bash"))
    .action((shell: keyof typeof SHELLS) => {
      terminal.out(SHELLS[shell](levelsOf(program)));
    });
}

const HELP = `
To use it, add a line to the file that your shell reads when it starts:
  bash  source <(petstore completion bash)    in ~/.bashrc
  zsh   source <(petstore completion zsh)     in ~/.zshrc, behind compinit
  fish  petstore completion fish | source     in ~/.config/fish/config.fish
`;
