export type { BackupError } from "./backup/backup-error.js";
export { backupSqliteFile, type Backup, type BackupOptions } from "./backup/backup-sqlite-file.js";
export { restoreSqliteFile } from "./backup/restore-sqlite-file.js";
export type { Restored, RestoreOptions } from "./backup/restore-sqlite-file.js";
export { isFileOfDatabase } from "./database/database-files.js";
export type { OpenSqliteError } from "./database/open-storage-error.js";
export type { SqliteStorageOptions } from "./database/options.js";
export { openSqliteStorage } from "./open-storage.js";
