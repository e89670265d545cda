export type { BackupError, BackupErrorCode } from "./backup/backup-error.js";
export { backupSqliteFile, type Backup, type BackupOptions } from "./backup/backup-sqlite-file.js";
export {
  restoreSqliteFile,
  type Restored,
  type RestoreOptions,
} from "./backup/restore-sqlite-file.js";
export { isFileOfDatabase } from "./database/database-files.js";
export type { OpenSqliteError, OpenSqliteErrorCode } from "./database/open-storage-error.js";
export type {
  SqliteDatabaseOptions,
  SqliteFileOptions,
  SqliteStorageOptions,
} from "./database/options.js";
export type { SqliteDatabase } from "./database/driver.js";
export { openSqliteStorage } from "./open-storage.js";
