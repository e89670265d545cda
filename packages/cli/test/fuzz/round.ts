import Database from "better-sqlite3";
import { petsOf, readResponses } from "./responses.js";
import { send } from "./send.js";
import { toSending, type Sequence } from "./sequences.js";
import { untilAtRest, type FuzzedServer, type Held } from "./server.js";

/** The server that a round is run against. */
export interface Target {
  readonly server: FuzzedServer;
  /** The server's resources without any connection. */
  readonly baseline: Held["resources"];
  readonly database: string;
  readonly key: string;
  /** Whether the server is `petstore serve`, and no host's. */
  readonly isOwn: boolean;
  /** Returns a new number for each sending, from 1 on. */
  readonly next: () => number;
}

/** A defect of the server. */
export interface Failure {
  readonly kind: "death" | "complaint" | "unrest" | "response" | "pets";
  readonly what: string;
  /** One or several of these sequences have caused it. */
  readonly suspects: readonly Sequence[];
}

/** How long to wait until something is a failure, in milliseconds. */
export interface Timeouts {
  /** Until the server closes a connection that its client has closed. */
  readonly closeTimeout: number;
  /** How long to wait until sockets and timers are gone and the processor is idle. */
  readonly idleTimeout: number;
}

/** No timeout of the server is longer. */
const LONG: Timeouts = { closeTimeout: 15_000, idleTimeout: 15_000 };
const CONNECTIONS = 32;
/** How many of the latest sequences may have caused a failure; the server may be handling them late. */
const SUSPECTS = 3 * CONNECTIONS;

/** Sends sequences, many at a time, and checks the server until it is idle again. */
export async function runRound(
  { server, baseline, database, key, isOwn, next }: Target,
  sequences: readonly Sequence[],
  { idleTimeout, closeTimeout }: Timeouts = LONG,
): Promise<Failure | undefined> {
  const may = new Set<string>();
  const must = new Set<string>();
  const recent: Sequence[] = [];
  const queue = sequences.values();
  const last = lastPet(database);
  let failure: Failure | undefined;

  async function sendSome(): Promise<void> {
    for (const sequence of queue) {
      if (failure !== undefined || server.end() !== undefined || server.complaints() !== "") return;
      recent.push(sequence);
      if (recent.length > SUSPECTS) recent.shift();
      const number = next();
      const sending = toSending(sequence, number, key);
      const received = await send(server.port, sending, originOf(number), closeTimeout);
      const responses = readResponses(sending, received, { isOwn });
      if (typeof responses === "string")
        failure ??= { kind: "response", what: responses, suspects: [sequence] };
      else {
        const pets = petsOf(sending, responses);
        for (const name of pets.may) may.add(name);
        for (const name of pets.must) must.add(name);
      }
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, sendSome));
  const failed = deathOf(server, recent) ?? failure;
  if (failed !== undefined) return failed;
  const unrest = await untilAtRest(server, baseline, idleTimeout);
  const late = deathOf(server, recent);
  if (late !== undefined) return late;
  if (unrest !== undefined) return { kind: "unrest", what: unrest, suspects: sequences };
  return wrongPets(petsSince(database, last), may, must, sequences);
}

function deathOf(server: FuzzedServer, suspects: readonly Sequence[]): Failure | undefined {
  const [end, complaints] = [server.end(), server.complaints()];
  if (end !== undefined)
    return { kind: "death", what: `ended with ${end}: ${complaints}`, suspects };
  return complaints === "" ? undefined : { kind: "complaint", what: complaints, suspects };
}

function wrongPets(
  names: readonly string[],
  may: ReadonlySet<string>,
  must: ReadonlySet<string>,
  suspects: readonly Sequence[],
): Failure | undefined {
  const present = new Set(names);
  const extra = names.filter((name) => name.startsWith("f") && !may.has(name));
  const missing = [...must].filter((name) => !present.has(name));
  const what =
    extra.length > 0
      ? `pets that must not exist: ${extra.slice(0, 5).join(", ")}`
      : missing.length > 0
        ? `pets are missing: ${missing.slice(0, 5).join(", ")}`
        : names.length > present.size
          ? "a pet was created twice"
          : undefined;
  return what === undefined ? undefined : { kind: "pets", what, suspects };
}

function lastPet(database: string): bigint {
  return (
    read(database, (db) =>
      db.prepare<[], bigint>("select coalesce(max(id), 0) from pets").pluck().get(),
    ) ?? 0n
  );
}

function petsSince(database: string, last: bigint): readonly string[] {
  return read(database, (db) =>
    db.prepare<[bigint], string>("select name from pets where id > ?").pluck().all(last),
  );
}

function read<T>(database: string, query: (db: Database.Database) => T): T {
  const db = new Database(database, { readonly: true }).defaultSafeIntegers();
  try {
    return query(db);
  } finally {
    db.close();
  }
}

/** Callers without a valid key have few requests a minute from one address. Elsewhere there is only one. */
function originOf(number: number): string {
  return process.platform === "linux" ? `127.0.${number % 8}.${1 + (number % 250)}` : "127.0.0.1";
}
