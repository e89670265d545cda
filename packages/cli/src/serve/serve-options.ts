import { clientAddressBehind } from "@petstore/http-adapter";
import { isOrigin, SERVER_LIMITS } from "@petstore/http-adapter/internal";
import { InvalidArgumentError, type Command, type Option } from "commander";
import { fromThrowable } from "neverthrow";
import { commaSeparated, databaseOption, fileName, wholeNumber } from "../options.js";

export type MetricsAddress = Pick<ServeOptions, "host" | "port">;

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly workers: number;
  readonly keepAlive?: number;
  readonly shutdownDelay: number;
  readonly trustProxy?: readonly string[];
  readonly cors?: "*" | readonly string[];
  readonly rateLimitFields?: boolean;
  readonly firstKey?: boolean;
  readonly log?: boolean;
  readonly metrics?: MetricsAddress;
}

export function addServeOptions(command: Command): Command {
  command
    .option("--host <address>", "the address to listen on", hostAddress, HOST)
    .option("--port <number>", PORT, wholeNumber(0, 65_535), 3000)
    .addOption(databaseOption(fileName))
    .option("--cors <origin>", CORS, addOrigins)
    .option("--trust-proxy <address...>", TRUST_PROXY, addTrustedProxies)
    .option("--keep-alive <seconds>", KEEP_ALIVE, wholeNumber(1, 86_400))
    .option("--shutdown-delay <seconds>", SHUTDOWN_DELAY, wholeNumber(0, 3_600), 0)
    .option("--rate-limit-fields", RATE_LIMIT_FIELDS)
    .option("--log", "write a line of JSON for each request to standard output")
    .option("--metrics <[host:]port>", METRICS, metricsAddress)
    .option("--first-key", "if the database has no key yet, issue a Free one and print it")
    .option("--workers <n>", WORKERS, wholeNumber(1, 256), 1);
  return orFromEnvironment(command);
}

const HOST = "127.0.0.1";
const PORT = "the port to listen on; 0 for any free port";
const CORS = "pages of this origin may call the store; repeatable; * for all";
const TRUST_PROXY =
  "proxies, or ranges such as 10.0.0.0/8, whose X-Forwarded-For says where a request comes from";
const KEEP_ALIVE = `how long a connection may be idle between requests (default: ${SERVER_LIMITS.keepAliveTimeoutSeconds})`;
const SHUTDOWN_DELAY =
  "after a signal, serve on for so long while /readyz is 503, for a proxy to notice";
const RATE_LIMIT_FIELDS =
  "also send RateLimit and RateLimit-Policy (a draft of the IETF), with each window of the plan";
const METRICS = `serve metrics for Prometheus at /metrics of this port, on ${HOST} unless a host is given`;
const WORKERS = "the number of processes that serve; they share the port and the limits";

/** An empty address would mean every interface. */
function hostAddress(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be an address.");
  return text;
}

function addTrustedProxies(text: string, earlier: readonly string[] = []): readonly string[] {
  const proxies = [...earlier, ...commaSeparated(text)];
  if (fromThrowable(clientAddressBehind)(proxies).isOk()) return proxies;
  throw new InvalidArgumentError("It must be an IP address, or a range such as 10.0.0.0/8.");
}

function addOrigins(text: string, earlier: "*" | readonly string[] = []): "*" | readonly string[] {
  let added = earlier;
  for (const origin of commaSeparated(text)) {
    if (origin === "*" || added === "*") return "*";
    if (!isOrigin(origin))
      throw new InvalidArgumentError("It must be an origin such as https://shop.example, or *.");
    added = [...added, origin];
  }
  return added;
}

function metricsAddress(text: string): MetricsAddress {
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]:|([^:]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535) {
    throw new InvalidArgumentError(
      "It must be a port, or an address and a port such as 0.0.0.0:9464.",
    );
  }
  return { host: bracketed ?? plain ?? HOST, port: Number(port) };
}

/** PETSTORE_KEEP_ALIVE is `--keep-alive`, which wins. An empty variable counts as not set, as does a link of Kubernetes. */
function orFromEnvironment(command: Command): Command {
  // Only for the help: Commander reads the variables that an option has when it is added, and for an option
  // without a value it would read `false` as true.
  for (const option of command.options) option.env(variablesOf(option).join(", "));
  return command.hook("preAction", () => {
    for (const option of command.options) {
      const variable = variablesOf(option).find(isSet);
      if (variable !== undefined) setFrom(variable, option, command);
    }
  });
}

/** In Kubernetes, a Service called `petstore` sets PETSTORE_PORT to a link such as tcp://10.0.0.1:80. */
function isSet(variable: string): boolean {
  const text = process.env[variable] ?? "";
  return text !== "" && !(variable.endsWith("_PORT") && /^(?:tcp|udp|sctp):.+:\d+$/.test(text));
}

function variablesOf(option: Option): readonly string[] {
  const name = option.name().toUpperCase().replaceAll("-", "_");
  return [`PETSTORE_${name}`, ...["HOST", "PORT"].filter((other) => other === name)];
}

function setFrom(variable: string, option: Option, command: Command): void {
  const name = option.attributeName();
  if (command.getOptionValueSource(name) === "cli") return;
  const text = process.env[variable] ?? "";
  try {
    const value = option.required ? option.parseArg?.<unknown>(text, undefined) : isOn(text);
    command.setOptionValue(name, value);
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
