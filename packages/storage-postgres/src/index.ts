export type { OpenPostgresError, OpenPostgresErrorCode } from "./database/open-storage-error.js";
export type {
  PostgresPoolOptions,
  PostgresStorageOptions,
  PostgresUrlOptions,
} from "./database/options.js";
export type { PostgresClient, PostgresPool } from "./database/driver.js";
export { postgresMigrations } from "./tables/migrations.js";
export { openPostgresStorage } from "./open-storage.js";
