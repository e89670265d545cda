import { readFileSync } from "node:fs";

/** How many commits the write-ahead log of a database holds (sqlite.org/fileformat2.html#walformat). */
export function commitsIn(walFile: string): number {
  const wal = readFileSync(walFile);
  const frameSize = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let frame = 32; frame + frameSize <= wal.length; frame += frameSize) {
    // Only the last frame of a commit holds the size of the database after it.
    if (wal.readUInt32BE(frame + 4) !== 0) commits += 1;
  }
  return commits;
}
