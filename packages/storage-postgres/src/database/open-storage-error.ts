import { Refusal } from "@petstore/storage-sql";
import { causeOf, ConnectionLost, isConnectionLost, sqlState } from "./errors.js";

/** Why a storage could not be opened; closed on `code`. */
export interface OpenPostgresError {
  readonly code: OpenPostgresErrorCode;
  /** One sentence for the operator. Contains no password. */
  readonly message: string;
  /** The underlying error, if any, without values of rows. */
  readonly cause: unknown;
}

type OpenPostgresErrorCode =
  /** pg is not installed. */
  | "driver_unavailable"
  /** No server answers there, it is starting up, has no connection left, or TLS cannot be agreed on. */
  | "cannot_connect"
  /** TLS is required, but the server has none. */
  | "no_tls"
  /** The certificate of the server is for another host, has expired, or is not trusted. */
  | "wrong_certificate"
  /** The server refuses this user or password, or asks for a password, and there is none. */
  | "wrong_credentials"
  /** The server has no database with this name. */
  | "no_database"
  /** The user lacks a right: to create the tables, or to use them. */
  | "not_allowed"
  /** The database is a standby, or read-only. */
  | "read_only"
  /** Another migration holds the lock for too long. */
  | "busy"
  /** A newer version of this package changed the tables in a way that this one cannot use. */
  | "schema_too_new"
  /** Tables with these names exist, but another program created or changed them. */
  | "schema_conflict"
  /** PostgreSQL is older than 15. */
  | "postgres_too_old"
  /** The database's encoding is not UTF8. */
  | "not_utf8"
  /** `fsync` or `full_page_writes` is off, so a commit could be lost. */
  | "not_durable"
  /** Any other cause: see `cause`. */
  | "failed";

export class OpenRefusal extends Refusal<OpenPostgresErrorCode> {}

export function openStorageError(error: unknown): OpenPostgresError {
  if (error instanceof OpenRefusal)
    return { code: error.code, message: error.message, cause: error.cause };
  const cause = causeOf(error);
  const state = sqlState(error);
  // Neither the code nor the message of an error that ends a connection contains a password.
  const original = error instanceof ConnectionLost ? (error.cause ?? error) : error;
  const reason = original instanceof Error ? original.message : "";
  const code = original instanceof Error && "code" in original ? String(original.code) : "";
  const known = knownErrors.find(([pattern]) => pattern.test(`${code} ${reason}`));
  if (known) return { code: known[1], message: known[2], cause };
  if (isConnectionLost(error)) {
    const message = `The PostgreSQL server cannot be reached: ${reason || code}.`;
    return { code: "cannot_connect", message, cause };
  }
  const message = `The database could not be opened${state && `: PostgreSQL refused it (${state})`}.`;
  return { code: "failed", message, cause };
}

export const READ_ONLY = "The database is a standby, or read-only.";

/**
 * By the beginning of the SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by the errors of
 * pg and of Node's TLS (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
 */
const knownErrors = [
  [/^28P01/, "wrong_credentials", "The PostgreSQL server refuses this user or password."],
  [
    /^28/,
    "wrong_credentials",
    "The PostgreSQL server does not let this user in: check the user, pg_hba.conf, and whether it requires TLS (`sslmode`).",
  ],
  [
    /^3D000/,
    "no_database",
    "The PostgreSQL server has no database with this name: create it first.",
  ],
  [/^42501/, "not_allowed", "The user lacks a right on this database or schema."],
  [/^25006/, "read_only", READ_ONLY],
  [/^55P03/, "busy", "Another migration holds the lock for too long."],
  [/^57P03/, "cannot_connect", "The PostgreSQL server does not accept connections now."],
  [
    /^53300/,
    "cannot_connect",
    "The PostgreSQL server has no connection left: raise its limit, or close others.",
  ],
  // The statements are correct, so a table is missing or already exists.
  [/^42/, "schema_conflict", "The schema has tables that differ from those of this version."],
  [
    /client password must be/,
    "wrong_credentials",
    "The PostgreSQL server asks for a password: give it in the URL, PGPASSWORD or ~/.pgpass.",
  ],
  [
    /does not support SSL/,
    "no_tls",
    "The PostgreSQL server has no TLS: turn on its setting `ssl`, or leave `sslmode` out of the URL.",
  ],
  [
    /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    "wrong_certificate",
    "The certificate of the PostgreSQL server is for another host: connect by a name that it has.",
  ],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    "wrong_certificate",
    "The certificate of the PostgreSQL server has expired, or is not valid yet.",
  ],
  [
    /^(?:UNABLE_TO_|CERT_|INVALID_|PATH_LENGTH)|SELF_SIGNED/,
    "wrong_certificate",
    "The certificate of the PostgreSQL server is not trusted: name its authority with `sslrootcert` in the URL.",
  ],
] as const;
