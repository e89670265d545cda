import { spawn } from "node:child_process";
import { constants, fstatSync, openSync, readSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { ConsoleEvent } from "@petstore/console";
import type { PetStore } from "@petstore/core";
import { codeOf } from "@petstore/core/facts";
import { systemRandom } from "@petstore/core/internal";
import { Command, InvalidArgumentError } from "commander";
import { fromThrowable, ok, type Result } from "neverthrow";
import { openExistingStore, withStore } from "../open-store.js";
import { databaseOption, example, isPostgres, nameOf, wholeNumber } from "../options.js";
import { createErrorLog } from "../serve/log.js";
import { isInForeground, untilStopped } from "../stop-signal.js";
import type { CommandIO, Streams } from "../terminal.js";
import { serveConsole } from "./console-server.js";

interface ConsoleOptions {
  readonly database: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly open: boolean;
}

const PORT = "the port of 127.0.0.1 to listen on; 0: any free port";
const BASE_URL = "where clients reach the store, for the curl line of a new key";
const HELP = `
The console is for this machine only, and ends with its terminal, or with the pipe that is its input. Over SSH, forward its port and open the link at
home: ssh -t -L 4000:127.0.0.1:4000 HOST petstore console --port 4000. Each action is printed.
`;

export function consoleCommand(io: CommandIO): Command {
  return new Command("console")
    .description("Open a page to see and manage keys and pets, beside running servers.")
    .addOption(databaseOption())
    .option("--port <number>", PORT, wholeNumber(0, 65_535), 0)
    .option("--base-url <url>", BASE_URL, httpUrl, "http://127.0.0.1:3000/v1")
    .option("--no-open", "do not open a browser")
    .addHelpText("after", HELP + example("petstore console --database pets.db"))
    .action(async (options: ConsoleOptions) => {
      const run = (store: PetStore) => runConsole(store, options, io);
      (await withStore(openExistingStore(options.database), run)).mapErr(io.fail);
    });
}

async function runConsole(
  store: PetStore,
  { database, port, baseUrl, open }: ConsoleOptions,
  { terminal, streams, stop, report }: CommandIO,
): Promise<Result<void, string>> {
  const errors = createErrorLog(report);
  const print = async (text: string, name = text): Promise<void> => {
    terminal.out(text);
    const problem = await terminal.written(true);
    if (problem !== undefined)
      report(`standard output has lost a line, because ${problem}: ${name}`);
  };
  // eslint-disable-next-line no-restricted-syntax -- All other commands start without it.
  const { createConsole } = await import("@petstore/console");
  const create = (basePath: string) =>
    createConsole(store, {
      basePath,
      baseUrl,
      actor: userName(),
      onEvent: (event) => void print(describe(event)),
      onError: errors.add,
    });
  const serving = await serveConsole(create, port, systemRandom);
  if (serving.isErr()) return serving.map(() => undefined);
  const { newLink, close } = serving.value;

  store.events.on("storage_warning", errors.add);
  const stopped = untilStopped(stop, terminal, report);
  const { stdin, stdout } = streams;
  const input = inputOf(stdin);
  const link = newLink();
  const where = isPostgres(database) ? nameOf(database) : resolve(database);
  const again = stdin.isTTY === true && isInForeground() ? "; press Enter for another one" : "";
  const opened = `The console of ${where} is open until Ctrl-C.\nThis link works once${again}:`;
  void print(`${opened}\n\n  ${link}\n`, LINK);
  const opening = open && stdout.isTTY === true ? openInBrowser(link) : undefined;
  const forget = await opening?.catch(() => undefined);
  const ended = input && forEachLine(input, () => void print(`  ${newLink()}`, LINK));
  await Promise.race(ended === undefined ? [stopped] : [stopped, ended.catch(() => undefined)]);
  stdin.destroy();
  await forget?.();
  await close();
  errors.end();
  return ok();
}

/** What stands for the link on standard error, which may be kept: the link is a secret. */
const LINK = "the link";

/** Returns the input of a console: a terminal, a pipe or a socket. Others, such as files and the null device, are not read. */
function inputOf(stdin: Streams["stdin"]): AsyncIterable<Buffer> | undefined {
  if (stdin.isTTY === true) return openTerminal().match(readTerminal, () => stdin);
  const stats = stdin.fd === undefined ? undefined : fstatSync(stdin.fd);
  return !stats || stats.isFIFO() || stats.isSocket() ? stdin : undefined;
}

/** Fails if this process has no controlling terminal, which alone could stop it. */
const openTerminal = fromThrowable(() =>
  openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK),
);

/** Reads every 100 ms, if this process is in the foreground. A read that waits would stop it in the background. */
async function* readTerminal(terminal: number): AsyncGenerator<Buffer> {
  const part = Buffer.alloc(4_096);
  for (;;) {
    await setTimeout(100, undefined, { ref: false });
    if (!isInForeground()) continue;
    const length = fromThrowable(readSync)(terminal, part);
    if (length.isErr() ? codeOf(length.error) !== "EAGAIN" : length.value === 0) return;
    if (length.isOk()) yield part.subarray(0, length.value);
  }
}

async function forEachLine(input: AsyncIterable<Buffer>, onLine: () => void): Promise<void> {
  for await (const part of input) for (const byte of part) if (byte === 0x0a) onLine();
}

/** Other users can read the arguments of a command, so the browser gets a private file. Resolves to what removes it. */
async function openInBrowser(link: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "petstore-console-"));
  const file = join(folder, "open.html");
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${link}"><title>Pet store console</title>\n`;
  await writeFile(file, page, { mode: 0o600 });
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  spawn(program, [...args, pathToFileURL(file).href], { detached: true, stdio: "ignore" })
    // The link was printed, too.
    .on("error", () => undefined)
    .unref();
  return () => rm(folder, { recursive: true, force: true });
}

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

function describe(event: ConsoleEvent): string {
  const what = event.type === "pet_created" ? `pet ${event.pet.id}` : event.key.id;
  return `${new Date(event.at).toISOString()} ${event.actor} ${event.type} ${what}`;
}

function userName(): string {
  // In a container, the user may have no name.
  const unnamed = `user ${process.getuid?.() ?? "unknown"}`;
  return fromThrowable(() => userInfo().username)().unwrapOr(unnamed);
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/i.test(text)) return text;
  throw new InvalidArgumentError("It must be a URL such as https://pets.example.com/v1.");
}
