export type { OpenPostgresError } from "./database/open-storage-error.js";
export { isPostgresUrl, type PostgresStorageOptions } from "./database/options.js";
export { postgresMigrations } from "./migrations/migrate.js";
export { openPostgresStorage } from "./open-storage.js";
