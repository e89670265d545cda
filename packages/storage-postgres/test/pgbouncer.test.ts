import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { storageContract } from "@petstore/storage-contract";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { freePort } from "../../../scripts/ports.js";
import { inCi } from "../../../scripts/test-size.js";
import { connectAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { postponeDeadlines } from "./support/pass-time.js";
import { giveToPostgres, logged, unprivileged, usePostgres } from "./support/postgres-server.js";
import {
  aKey,
  allIds,
  chargeOnce,
  rex,
  times,
  usedBy,
} from "../../storage-sql/test/support/samples.js";

const PROGRAM = "/usr/sbin/pgbouncer";
/** In CI, the tests must run. */
const isInstalled = existsSync(PROGRAM) || process.env["CI"] !== undefined;

describe.skipIf(!isInstalled)(
  "PgBouncer in transaction mode (skipped unless it is there: apt-get install pgbouncer)",
  () => {
    const server = usePostgres();
    let url: string;
    let schemas = 0;
    const open = (schema: string) => openStorage({ url, schema });

    beforeAll(async () => {
      const folder = mkdtempSync(join(inject("sharedFolder"), "pgbouncer-"));
      const settings = join(folder, "pgbouncer.ini");
      const port = await freePort();
      const { username, password } = new URL(server.url());
      writeFileSync(
        settings,
        `[databases]
* = host=127.0.0.1 port=${server.port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
; After a failed login, PgBouncer waits this many seconds: by default 15, longer than a call waits.
server_login_retry = 0.1
`,
      );
      for (const path of [folder, settings]) giveToPostgres(path);
      const pooler = spawn(PROGRAM, [settings], {
        ...unprivileged,
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
      });
      const ended = once(pooler, "exit");
      await logged(pooler, /process up/);
      url = server.url().replace(`:${server.port}/`, `:${port}/`);
      return async () => {
        pooler.kill("SIGKILL");
        await ended;
      };
    });

    const createFixture = () => {
      const schema = `fixture_${(schemas += 1)}`;
      return Promise.resolve({ open: () => open(schema), remove: () => Promise.resolve() });
    };
    const inFull = describe.runIf(inCi);
    storageContract({ describe: inFull, it }, { name: "a schema behind a pooler", createFixture });

    it("no call fails when a pooler cannot keep statements, or its connections are ended", async () => {
      postponeDeadlines();
      const admin = await connectAdmin(server.url());
      const servers = [await open("pooled"), await open("pooled"), await open("pooled")] as const;
      const [storage] = servers;
      (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
      for (let round = 0; round < 5; round += 1) {
        const calls = servers.flatMap((each) => [
          ...times(20, () => chargeOnce(each, "a")),
          ...times(20, async () => (await each.pets.create(rex))._unsafeUnwrap()),
          ...times(20, async () => (await each.pets.find(1n))._unsafeUnwrap()),
        ]);
        if (round > 2)
          await admin.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
          );
        await Promise.all(calls);
      }
      expect(await usedBy(storage, "a")).toBe(3 * 5 * 20);
      expect(await allIds(storage)).toHaveLength(3 * 5 * 20);
    });
  },
);
