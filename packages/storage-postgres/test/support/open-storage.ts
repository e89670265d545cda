import type { Storage } from "@petstore/core/storage";
import { openPostgresStorage, type PostgresStorageOptions } from "@petstore/storage-postgres";
import pg from "pg";
import { onTestFinished } from "vitest";

export * from "../../../storage-sql/test/support/samples.js";

export async function openStorage(options: PostgresStorageOptions): Promise<Storage> {
  const storage = (await openPostgresStorage(options))._unsafeUnwrap();
  onTestFinished(() => storage.close().then(() => undefined));
  return storage;
}

export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  onTestFinished(() => pool.end());
  return pool;
}
