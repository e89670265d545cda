export type { BackupError, BackupErrorCode } from "./backup-error.js";
export { backupSqliteFile, type Backup, type BackupOptions } from "./backup-sqlite-file.js";
export { isFileOfDatabase } from "./database-files.js";
export { openSqliteStorage } from "./open-sqlite-storage.js";
export type { OpenStorageError, OpenStorageErrorCode } from "./open-storage-error.js";
export type { SqliteDatabaseOptions, SqliteFileOptions, SqliteStorageOptions } from "./options.js";
export type { SqliteDatabase, SqliteStatement } from "./sqlite-database.js";
