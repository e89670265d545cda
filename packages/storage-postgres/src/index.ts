export type { OpenPostgresError, OpenPostgresErrorCode } from "./database/open-storage-error.js";
export {
  isPostgresUrl,
  type PostgresPoolOptions,
  type PostgresStorageOptions,
  type PostgresUrlOptions,
} from "./database/options.js";
export type { PostgresClient, PostgresPool } from "./database/driver.js";
export { postgresMigrations } from "./migrations/migrate.js";
export { openPostgresStorage } from "./open-storage.js";
