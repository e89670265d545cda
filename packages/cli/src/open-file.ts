import { once } from "node:events";
import { constants, createReadStream, fstatSync, openSync, type BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { devNull } from "node:os";
import type { Readable } from "node:stream";
import { err, fromThrowable, ok, type Result } from "neverthrow";
import { describeFileError } from "./describe-error.js";
import type { Streams } from "./terminal.js";

interface Source {
  readonly stream: Readable;
  /** What the system knows of the file; `undefined` if it is no file of the system. */
  readonly stats: BigIntStats | undefined;
  /** Returns the fraction that has been read; `undefined` if the size is not known, as for a pipe. */
  readonly fraction: () => number | undefined;
}

/** Opens a file, or standard input for `-`. A named pipe is open when it has a writer, or this signal was aborted. */
export async function openSource(path: string, stdin: Streams["stdin"], signal: AbortSignal) {
  try {
    if (path === "-") return await openStandardInput(stdin);
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    const stream = createReadStream(path);
    await openUnlessStopped(path, stats, signal, () => once(stream, "open"));
    const size = Number(stats.size);
    const read = () => Math.min((stream.bytesRead - stream.readableLength) / size, 1);
    return ok<Source>({ stream, stats, fraction: () => (size === 0 ? undefined : read()) });
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

async function openStandardInput(stdin: Streams["stdin"]): Promise<Result<Source, string>> {
  const failed = (reason: string) => err(`cannot read standard input: ${reason}`);
  const source = { stream: stdin, stats: undefined, fraction: () => undefined };
  if (stdin.fd === undefined) return ok(source);
  // As numbers, those of a pipe would keep Node 20 and 22 from resolving links when they load modules.
  const stats = fstatSync(stdin.fd, { bigint: true });
  // Node would read a directory as an empty file.
  if (stats.isDirectory()) return failed("it is a directory");
  // Node opens the null device when standard input is closed.
  const isNull =
    stats.isCharacterDevice() && stats.rdev === (await stat(devNull, { bigint: true })).rdev;
  return isNull ? failed(`it is closed, or ${devNull}`) : ok({ ...source, stats });
}

/** Opens a file. For a named pipe, waits for the other end, or until the signal. */
export async function openUnlessStopped<T>(
  path: string,
  stats: BigIntStats,
  signal: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  if (!stats.isFIFO()) return open();
  // It stays open until the command ends, which the signal does. Without the permission to, the next signal ends it.
  const openOther = fromThrowable(() => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
  if (signal.aborted) openOther();
  else signal.addEventListener("abort", openOther);
  return open().finally(() => signal.removeEventListener("abort", openOther));
}

/** Splits only at line feeds. A line longer than `longest` bytes may be cut off, but not within these. */
export async function* readLines(chunks: AsyncIterable<Buffer>, longest: number) {
  let unfinished: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    yield lines;
    unfinished = bytes.subarray(start, start + longest + 1);
  }
  if (unfinished.length > 0) yield [unfinished];
}
