import { codeOf } from "@petstore/core/facts";
import { ErrorWithCode } from "@petstore/storage-sql";
import { causeOf, ConnectionLost, isConnectionLost, NotWritten, sqlState } from "./errors.js";

/** Why a storage could not be opened; closed on `code`. */
export interface OpenPostgresError {
  readonly code: OpenPostgresErrorCode;
  /** One sentence for the operator. Contains no password. */
  readonly message: string;
  /** The underlying error, if any, without values of rows. */
  readonly cause: unknown;
}

type OpenPostgresErrorCode =
  | keyof typeof messages
  /** pg is not installed. */
  | "driver_unavailable"
  /** A newer version of this package changed the tables in a way that this one cannot use. */
  | "schema_too_new"
  /** PostgreSQL is older than 15. */
  | "postgres_too_old"
  /** The database's encoding is not UTF8. */
  | "not_utf8"
  /** `fsync` or `full_page_writes` is off, so a commit could be lost. */
  | "not_durable"
  /** Any other cause: see `cause`. */
  | "failed";

export class OpenRefusal extends ErrorWithCode<OpenPostgresErrorCode> {}

export function openStorageError(error: unknown): OpenPostgresError {
  if (error instanceof OpenRefusal)
    return { code: error.code, message: error.message, cause: error.cause };
  const cause = causeOf(error);
  const state = sqlState(error);
  // Neither the code nor the message of an error that ends a connection contains a password.
  const original = error instanceof ConnectionLost ? (error.cause ?? error) : error;
  const reason = original instanceof Error ? original.message : "";
  const errorCode = codeOf(original);
  const known = knownErrors.find(([pattern]) => pattern.test(`${errorCode} ${reason}`));
  if (known) {
    const [, code, message = messages[code]] = known;
    return { code, message, cause };
  }
  if (isConnectionLost(error) || error instanceof NotWritten) {
    const message = `The PostgreSQL server cannot be reached: ${reason || errorCode}.`;
    return { code: "cannot_connect", message, cause };
  }
  const message = `The database could not be opened${state && `: PostgreSQL refused it (${state})`}.`;
  return { code: "failed", message, cause };
}

/** The codes that an error of the connection or the server can have, each with its message unless more is known. */
const messages = {
  /** Also if no server responds, it has no connection left, or TLS cannot be agreed on. */
  cannot_connect: "The PostgreSQL server does not accept connections now.",
  no_tls:
    "The PostgreSQL server has no TLS: turn on its setting `ssl`, or leave `sslmode` out of the URL.",
  /** Also if it is for another host, has expired, or a file that the URL names for TLS cannot be read. */
  wrong_certificate:
    "The certificate of the PostgreSQL server is not trusted: name its authority with `sslrootcert` in the URL.",
  /** Also if the server asks for a password, and there is none. */
  wrong_credentials: "The PostgreSQL server refuses this user or password.",
  no_database: "The PostgreSQL server has no database with this name: create it first.",
  not_allowed: "The user lacks a right on this database or schema.",
  read_only: "The database is a standby, or read-only.",
  busy: "Another migration holds the lock for too long.",
  // The statements are correct, so a table is missing or already exists.
  schema_conflict: "The schema has tables that differ from those of this version.",
} as const;

export const READ_ONLY = messages.read_only;

/**
 * By the beginning of the SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by the errors of
 * pg and of Node's TLS (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
 */
const knownErrors: readonly (readonly [RegExp, keyof typeof messages, message?: string])[] = [
  [/^28P01/, "wrong_credentials"],
  [
    /^28/,
    "wrong_credentials",
    "The PostgreSQL server does not let this user in: check the user, pg_hba.conf, and whether it requires TLS (`sslmode`).",
  ],
  [/^3D000/, "no_database"],
  [/^42501/, "not_allowed"],
  [/^25006/, "read_only"],
  [/^55P03/, "busy"],
  [/^57P03/, "cannot_connect"],
  [/^53300/, "cannot_connect", "The server has no connection left: raise its limit or end some."],
  [/^42/, "schema_conflict"],
  [
    /client password must be/,
    "wrong_credentials",
    "The PostgreSQL server asks for a password: give it in the URL, PGPASSWORD or ~/.pgpass.",
  ],
  [/does not support SSL/, "no_tls"],
  [
    /^E[A-Z]+ E[A-Z]+: .*, (?:open|read)/,
    "wrong_certificate",
    "A file that `sslrootcert`, `sslcert` or `sslkey` names in the URL cannot be read.",
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
  [/^(?:UNABLE_TO_|CERT_|INVALID_|PATH_LENGTH)|SELF_SIGNED/, "wrong_certificate"],
];
