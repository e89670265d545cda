import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seed } from "../../../../scripts/test-size.js";
import { KEY } from "./messages.js";
import { namesIn } from "../support/command.js";
import { send, type Sent, type Sequence } from "./sequences.js";
import type { BuiltServer } from "../support/built-petstore.js";

interface Target {
  readonly server: BuiltServer;
  readonly database: string;
  readonly key: string;
  readonly next: () => number;
}

const CONNECTIONS = 32;
/** How many of the latest sequences may have caused a failure; the server may be handling them late. */
const SUSPECTS = 3 * CONNECTIONS;

/** Sends sequences, many at a time, waits until the server is `done` with them, and checks responses and pets. */
export async function runRound(
  { server, database, key, next }: Target,
  sequences: readonly Sequence[],
  done: () => Promise<string | undefined>,
): Promise<void> {
  const pets: Pets = new Map();
  const recent: Sequence[] = [];
  const queue = sequences.values();
  const before = (await namesIn(database)).length;
  const port = Number(new URL(server.url).port);
  let failure: readonly [what: string, suspects: readonly Sequence[]] | undefined;

  async function sendSome(): Promise<void> {
    for (const sequence of queue) {
      if (failure !== undefined || server.errors() !== "") return;
      recent.push(sequence);
      if (recent.length > SUSPECTS) recent.shift();
      const sent = await send(port, sequence, key, next());
      const responses = readResponses(sent);
      if (typeof responses !== "string") addPets(sent, responses, pets);
      else failure ??= [responses, [sequence]];
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, sendSome));
  let [what, suspects] = failure ?? [await done().catch(String), sequences];
  if (server.errors() !== "") [what, suspects] = [server.errors(), recent];
  what ??= wrongPets((await namesIn(database)).slice(before), pets);
  if (what === undefined) return;
  const file = join(mkdtempSync(join(tmpdir(), "petstore-fuzz-")), "suspects.json");
  writeFileSync(file, JSON.stringify(suspects));
  const when = `Before sequence ${next()} (PETSTORE_SEED=${seed})`;
  throw new Error(`${when}: ${what}\nPETSTORE_FUZZ_REPLAY=${file}`);
}

/** The names of the pets that may exist, and whether they must. */
type Pets = Map<string, boolean>;

function wrongPets(names: readonly string[], pets: Pets): string | undefined {
  const ours = names.filter((name) => /^f\d-/.test(name));
  const present = new Set(ours);
  const extra = ours.filter((name) => !pets.has(name));
  const missing = [...pets].filter(([name, isCreated]) => isCreated && !present.has(name));
  if (extra.length > 0) return `pets that must not exist: ${extra.slice(0, 5).join(", ")}`;
  if (missing.length > 0) return `pets are missing: ${missing.slice(0, 5).join(", ")}`;
  return ours.length > present.size ? "a pet was created twice" : undefined;
}

interface Response {
  readonly status: number;
  /** The header section, in lower case. */
  readonly head: string;
}

const STATUSES = [
  200, 201, 204, 302, 304, 400, 401, 404, 405, 408, 413, 414, 415, 417, 422, 426, 429, 431,
];

/** At /readyz, with 503. */
const SHUTTING_DOWN = '{"status":"shutting down"}';

/** The defect in the received bytes, or the responses in order. */
function readResponses(sent: Sent): readonly Response[] | string {
  const { messages } = sent.sequence;
  const exact = exactCount(sent);
  const responses: Response[] = [];
  let rest = sent.received;
  if (sent.hangs) return "the server never closed the connection";
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return sent.isWhole ? `no response: ${JSON.stringify(rest)}` : responses;
    const head = rest.slice(0, end).toLowerCase();
    const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1]);
    rest = rest.slice(end + 4);
    if (status === 100) continue;
    const index = responses.push({ status, head }) - 1;
    const request = index < exact ? messages[index]?.bytes : undefined;
    const isReadiness = status === 503 && head.includes(`content-length: ${SHUTTING_DOWN.length}`);
    if (!STATUSES.includes(status) && !isReadiness)
      return `a response that must never be sent: ${head}`;
    const isForStore = /^\S+ \/v1[/? ]/.test(request ?? "");
    if (isForStore && !head.includes("\r\nx-ratelimit-reset: ")) return `no limit in: ${head}`;
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    const isEmpty = request?.startsWith("HEAD ") === true || status === 304;
    const hasBody = request === undefined ? !rest.startsWith("HTTP/1.1 ") : !isEmpty;
    if (hasBody && rest !== "" && rest.length < length && sent.isWhole)
      return `cut short: ${JSON.stringify(rest)}`;
    const body = hasBody ? rest.slice(0, length) : "";
    const error = new RegExp(`^{"code":"[a-z_]+","message":".+","status":${status}}$`);
    if (isForStore && status >= 400 && body.length === length && !error.test(body))
      return `no Error: ${JSON.stringify(body)}`;
    rest = rest.slice(body.length);
    if (isClosing({ head }) && rest !== "") return `behind the last response: ${rest}`;
  }
  // A message that is not one complete request may get one more response, to the rest of it.
  if (responses.length > messages.length + 1)
    return `${responses.length} responses to ${messages.length} messages`;
  return responses;
}

/**
 * Adds the names of the pets that may exist: each was asked for in a whole request with a valid key, not behind a
 * response that closes the connection, nor got another response than 201. Those with a 201 must exist.
 */
function addPets(sent: Sent, responses: readonly Response[], pets: Pets): void {
  const known = responses.slice(0, exactCount(sent));
  const closing = known.findIndex(isClosing);
  const performed = sent.sequence.messages.slice(0, closing < 0 ? sent.complete : closing + 1);
  for (const [index, { kind, bytes }] of performed.entries()) {
    const [name = "", status] = [sent.names[index], known[index]?.status];
    if (kind !== "create" || !bytes.includes(KEY)) continue;
    if (status === undefined || status === 201) pets.set(name, status === 201);
  }
}

/** Counts the messages at the front that are one complete request each: each gets one response. */
function exactCount({ sequence, complete }: Sent): number {
  const first = sequence.messages.findIndex(({ kind }) => kind === "broken");
  return Math.min(complete, first < 0 ? sequence.messages.length : first);
}

const isClosing = ({ head }: Pick<Response, "head">) => head.includes("\r\nconnection: close");
