// Two statements that add pets, on one connection of one PostgreSQL: the storage's own, and the one that it uses if
// a pet is created with a token, here without any.
//   node benchmarks/postgres/creates.js [--rounds 15]
import { parseArgs } from "node:util";
import pg from "pg";
import { openPostgresStorage } from "@petstore/storage-postgres";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { startDatabase } from "./database.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const rounds = Number(values.rounds);
const PETS = 16;
const STATEMENTS = 500;
const pet = /** @type {const} */ ({ name: "Rex", categoryId: 7n, status: "available" });

const database = await startDatabase();
const pool = new pg.Pool({ connectionString: database.url });
const statements = await statementsOf(pool);
const client = await pool.connect();
/** @type {{ elapsed: number, node: number, postgres: number }[][]} */
const measured = [];
for (let round = -1; round < rounds; round += 1) {
  /** @type {typeof measured[number]} */
  const both = [];
  const order = round % 2 === 0 ? [0, 1] : [1, 0];
  for (const index of order) both[index] = await measure(index, round);
  // The first round warms up.
  if (round >= 0) measured.push(both);
}
client.release();
await pool.end();
await database.stop();

const figure = (/** @type {number} */ index, /** @type {"elapsed" | "node" | "postgres"} */ of) =>
  median(measured.map((both) => both[index]?.[of] ?? NaN)).toFixed(0);
const ratio = median(measured.map(([own, full]) => (full?.elapsed ?? 0) / (own?.elapsed ?? NaN)));
writeResults(
  "postgres-creates",
  "Adding pets without tokens, in PostgreSQL",
  `Microseconds of a statement that adds ${PETS} pets, on one connection; processor time of Node and of PostgreSQL; medians of ${rounds} interleaved rounds of ${STATEMENTS} statements; × is the ratio of the elapsed times within a round.`,
  ["statement", "file", "elapsed", "×", "Node", "PostgreSQL"],
  [
    ["of its own", 0, 1],
    ["the one for pets with tokens (plain)", 1, ratio],
  ].map(([name, index, times]) => [
    String(name),
    index === 0 ? "`storage-postgres/src/tables/pets.ts`" : "`tables/pet-creations.ts`",
    figure(Number(index), "elapsed"),
    Number(times).toFixed(2),
    figure(Number(index), "node"),
    figure(Number(index), "postgres"),
  ]),
);

/**
 * Runs a statement as a new writer, which numbers it from 1.
 * @param {number} index
 * @param {number} round
 */
async function measure(index, round) {
  const writer = `bench ${index} ${round}`;
  await database.query(
    `insert into petstore.writers (id, seq, written, seen_at) values ('${writer}', 0, '{}', now())`,
  );
  const { name, text, valuesFor } = statements[index] ?? {
    name: "",
    text: "",
    valuesFor: () => [],
  };
  const [start, before, database0] = [performance.now(), process.cpuUsage(), database.cpuTime()];
  for (let seq = 1; seq <= STATEMENTS; seq += 1) {
    const { rowCount } = await client.query({ name, text, values: valuesFor(writer, seq) });
    if (rowCount !== 1) throw new Error("the statement did nothing");
  }
  const { user, system } = process.cpuUsage(before);
  return {
    elapsed: ((performance.now() - start) * 1_000) / STATEMENTS,
    node: (user + system) / STATEMENTS,
    postgres: (database.cpuTime() - database0) / STATEMENTS,
  };
}

/**
 * Catches the storage's two statements, and removes the tokens of the second.
 * @param {pg.Pool} own
 */
async function statementsOf(own) {
  /** @type {import("@petstore/storage-postgres").PostgresQuery[]} */
  const caught = [];
  own.on("connect", (connected) => {
    connected.query = new Proxy(connected.query.bind(connected), {
      apply: (query, self, /** @type {[typeof caught[number]]} */ sent) => {
        if (/insert into [^ ]*"pets"/.test(sent[0].text)) caught.push(sent[0]);
        return Reflect.apply(query, self, sent);
      },
    });
  });
  const opened = await openPostgresStorage({ pool: own });
  if (opened.isErr()) throw new Error(opened.error.message);
  const { pets } = opened.value;
  const each = Array.from({ length: PETS }, (_, index) => `token ${index}`);
  await Promise.all(each.map(() => pets.create(pet)));
  const request = { fingerprint: "", now: 0, expiresAt: 1 };
  await Promise.all(each.map((token) => pets.createOnce(pet, { ...request, token })));
  await opened.value.close();
  return caught.map(({ name = "", text, values: sent = [] }) => {
    // The first values are the writer and the number of the statement, which follow elsewhere, too.
    const [id, number] = sent;
    const columns = sent.filter(Array.isArray).slice(0, 3);
    const none = Array(PETS).fill(null);
    const valuesFor = (/** @type {string} */ writer, /** @type {number} */ seq) =>
      sent.map((value) => {
        if (value === id) return writer;
        if (value === number) return seq;
        return Array.isArray(value) && !columns.includes(value) ? none : value;
      });
    return { name, text, valuesFor };
  });
}
