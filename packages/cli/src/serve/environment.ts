import { InvalidArgumentError, type Command, type Option } from "commander";

/**
 * Lets the environment set every option of a command that its arguments leave out: PETSTORE_KEEP_ALIVE is
 * `--keep-alive`. An empty variable counts as not set. An option without a value takes `true` or `1`, and `false`
 * or `0`.
 *
 * @param others variables that are read if the first one is not set, by the name of the option.
 */
export function orFromEnvironment(
  command: Command,
  others: Readonly<Record<string, string>>,
): Command {
  const read = command.options
    .filter(({ envVar }) => envVar === undefined)
    .map((option) => ({ option, variables: variablesOf(option, others) }));
  // Only for the help: Commander reads the variables that an option has when it is added, and for an option
  // without a value it would read `false` as true.
  for (const { option, variables } of read) option.env(variables.join(", "));
  return command.hook("preAction", () => {
    for (const { option, variables } of read) {
      const variable = variables.find((name) => (process.env[name] ?? "") !== "");
      if (variable !== undefined) setFrom(variable, option, command);
    }
  });
}

function variablesOf(option: Option, others: Readonly<Record<string, string>>): readonly string[] {
  const other = others[option.name()];
  const own = `PETSTORE_${option.name().toUpperCase().replaceAll("-", "_")}`;
  return other === undefined ? [own] : [own, other];
}

function setFrom(variable: string, option: Option, command: Command): void {
  const name = option.attributeName();
  if (command.getOptionValueSource(name) === "cli") return;
  const text = process.env[variable] ?? "";
  try {
    const hasValue = option.required || option.optional;
    const value = hasValue ? parse(option, text) : isOn(text) !== option.negate;
    command.setOptionValueWithSource(name, value, "env");
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    command.error(
      `error: option '${option.flags}' value '${text}' from env '${variable}' is invalid. ${error.message}`,
    );
  }
}

function isOn(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new InvalidArgumentError("It must be true or false.");
}

function parse(option: Option, text: string): unknown {
  return option.parseArg === undefined ? text : option.parseArg<unknown>(text, undefined);
}
