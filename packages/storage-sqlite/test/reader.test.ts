import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createConnection } from "../src/connection.js";
import { createReader, type Read } from "../src/reader.js";
import { createQueries } from "../src/schema.js";
import { createWriteQueue } from "../src/write-queue.js";

function aReader(deadline: number): Read {
  const connection = createConnection(new Database(":memory:"), createQueries());
  const patience = { deadline, blocking: 0 };
  const queue = createWriteQueue(connection, patience, () => ({ finish: () => undefined }));
  return createReader(connection, () => true, queue);
}

/** Work that meets what SQLite reports while another process recovers the log, so many times. */
function busyFor(times: number): () => string {
  let tries = 0;
  return () => {
    tries += 1;
    if (tries > times) return "read";
    throw new Database.SqliteError("database is locked", "SQLITE_BUSY_RECOVERY");
  };
}

describe("a read that meets a busy database", () => {
  it("is tried again", async () => {
    const read = aReader(60_000);
    expect((await read("Reading", busyFor(3)))._unsafeUnwrap()).toBe("read");
  });

  it("fails after the deadline", async () => {
    const read = aReader(5);
    expect((await read("Reading", busyFor(Infinity)))._unsafeUnwrapErr().message).toBe(
      "Reading failed: another connection held the database for too long (SQLITE_BUSY_RECOVERY).",
    );
  });
});
