import type Driver from "pg";
import { OpenRefusal } from "./open-storage-error.js";
import type { PostgresPool } from "./postgres-pool.js";

/** How the storage's own pool connects. */
export interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  /** How long connecting may take, in milliseconds. */
  readonly timeout: number;
}

/**
 * Loads pg, an optional dependency, and returns a function that creates a pool.
 * @throws OpenRefusal `driver_unavailable`
 */
export async function loadDriver(): Promise<(settings: PoolSettings) => PostgresPool> {
  const { default: pg } = await importDriver();
  return ({ url, connections, timeout }) =>
    new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER,
      application_name: "petstore",
    });
}

const KEEP_ALIVE_AFTER = 10_000;

async function importDriver(): Promise<{ readonly default: typeof Driver }> {
  try {
    return await import("pg");
  } catch (error) {
    throw new OpenRefusal(
      "driver_unavailable",
      "pg cannot be loaded: run `npm install pg`.",
      error,
    );
  }
}
