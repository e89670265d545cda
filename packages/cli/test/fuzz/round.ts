import Database from "better-sqlite3";
import { send, toSending, type Received, type Sending, type Sequence } from "./sequences.js";
import type { BuiltServer } from "../support/built-petstore.js";
import { untilAtRest } from "./probe.js";

/** The server that a round is run against. */
export interface Target {
  readonly server: BuiltServer;
  /** The server's resources without any connection. */
  readonly baseline: Readonly<Record<string, number>>;
  readonly database: string;
  readonly key: string;
  /** Returns a new number for each sending, from 1 on. */
  readonly next: () => number;
}

/** A defect of the server. */
export interface Failure {
  readonly what: string;
  /** One or several of these sequences have caused it. */
  readonly suspects: readonly Sequence[];
}

/**
 * How long to wait until the server closes a connection that its client has closed, and until sockets and timers are
 * gone and the processor is idle, in milliseconds. No timeout of the server is longer.
 */
const TIMEOUT = 15_000;
const CONNECTIONS = 32;
/** How many of the latest sequences may have caused a failure; the server may be handling them late. */
const SUSPECTS = 3 * CONNECTIONS;

/** Sends sequences, many at a time, and checks the server until it is idle again. */
export async function runRound(
  { server, baseline, database, key, next }: Target,
  sequences: readonly Sequence[],
): Promise<Failure | undefined> {
  const may = new Set<string>();
  const must = new Set<string>();
  const recent: Sequence[] = [];
  const queue = sequences.values();
  const before = petsIn(database).length;
  const port = Number(new URL(server.url).port);
  let failure: Failure | undefined;

  async function sendSome(): Promise<void> {
    for (const sequence of queue) {
      if (failure !== undefined || server.errors() !== "") return;
      recent.push(sequence);
      if (recent.length > SUSPECTS) recent.shift();
      const number = next();
      const sending = toSending(sequence, number, key);
      const received = await send(port, sending, originOf(number), TIMEOUT);
      const responses = readResponses(sending, received);
      if (typeof responses === "string") failure ??= { what: responses, suspects: [sequence] };
      else {
        const pets = petsOf(sending, responses);
        for (const name of pets.may) may.add(name);
        for (const name of pets.must) must.add(name);
      }
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, sendSome));
  const unrest = failure ? undefined : await untilAtRest(server, baseline, TIMEOUT).catch(String);
  if (server.errors() !== "") return { what: server.errors(), suspects: recent };
  if (failure !== undefined) return failure;
  const what = unrest ?? wrongPets(petsIn(database).slice(before), may, must);
  return what === undefined ? undefined : { what, suspects: sequences };
}

function wrongPets(
  names: readonly string[],
  may: ReadonlySet<string>,
  must: ReadonlySet<string>,
): string | undefined {
  const present = new Set(names);
  const extra = names.filter((name) => name.startsWith("f") && !may.has(name));
  const missing = [...must].filter((name) => !present.has(name));
  if (extra.length > 0) return `pets that must not exist: ${extra.slice(0, 5).join(", ")}`;
  if (missing.length > 0) return `pets are missing: ${missing.slice(0, 5).join(", ")}`;
  return names.length > present.size ? "a pet was created twice" : undefined;
}

/** The names of all pets in the order of their ids. */
function petsIn(database: string): readonly string[] {
  const reader = new Database(database, { readonly: true });
  const names = reader.prepare<[], string>("select name from pets order by id").pluck().all();
  reader.close();
  return names;
}

/** Callers without a valid key have few requests a minute from one address. Elsewhere there is only one. */
function originOf(number: number): string {
  return process.platform === "linux" ? `127.0.${number % 8}.${1 + (number % 250)}` : "127.0.0.1";
}

/** A response as it was read, but for its body. */
interface Response {
  readonly status: number;
  /** The header section, in lower case. */
  readonly head: string;
}

const STATUSES = [
  200, 201, 204, 302, 304, 400, 401, 404, 405, 408, 413, 414, 415, 417, 422, 426, 429, 431,
];

/** The defect in the received bytes, or the responses in order. */
function readResponses(sending: Sending, received: Received): readonly Response[] | string {
  const { messages } = sending.sequence;
  const exact = exactCount(sending);
  const responses: Response[] = [];
  let rest = received.bytes;
  if (received.hangs) return "the server never closed the connection";
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return received.isWhole ? `no response: ${JSON.stringify(rest)}` : responses;
    const head = rest.slice(0, end).toLowerCase();
    const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1]);
    rest = rest.slice(end + 4);
    if (status === 100) continue;
    const index = responses.push({ status, head }) - 1;
    const known = index < exact ? messages[index] : undefined;
    if (!STATUSES.includes(status)) return `a response that must never be sent: ${head}`;
    if (known?.isForStore && !head.includes("\r\nx-ratelimit-reset: "))
      return `no limit in: ${head}`;
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    const hasBody =
      known === undefined ? !rest.startsWith("HTTP/1.1 ") : !known.isHead && status !== 304;
    if (hasBody && rest !== "" && rest.length < length && received.isWhole)
      return `cut short: ${JSON.stringify(rest)}`;
    if (hasBody) rest = rest.slice(length);
    if (isClosing({ status, head }) && rest !== "")
      return `behind the last response: ${JSON.stringify(rest)}`;
  }
  // A message that is not one complete request may get one more response, to the rest of it.
  if (responses.length > messages.length + 1)
    return `${responses.length} responses to ${messages.length} messages`;
  return responses;
}

/**
 * The names of the pets that may exist: each was asked for in a whole request with a valid key, not behind a
 * response that closes the connection, nor got another response than 201. `must` are those with a 201.
 */
function petsOf(
  sending: Sending,
  responses: readonly Response[],
): { readonly may: readonly string[]; readonly must: readonly string[] } {
  const exact = exactCount(sending);
  const known = responses.slice(0, exact);
  const closing = known.findIndex(isClosing);
  const may = sending.sequence.messages.flatMap(({ isCreate }, index) => {
    if (!isCreate || index >= sending.complete) return [];
    if (closing >= 0 && index > closing) return [];
    const response = known[index];
    return response === undefined || response.status === 201 ? [sending.names[index] ?? ""] : [];
  });
  const must = may.filter((name) => known[sending.names.indexOf(name)] !== undefined);
  return { may, must };
}

/** Counts the messages at the front that are one complete request each: each gets one response. */
function exactCount({ sequence, complete }: Sending): number {
  const first = sequence.messages.findIndex(({ isWhole }) => !isWhole);
  return Math.min(complete, first < 0 ? sequence.messages.length : first);
}

function isClosing({ head }: Response): boolean {
  return head.includes("\r\nconnection: close");
}
