import { stat } from "node:fs/promises";

/** Whether two paths lead to one file, be it by a link. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const look = (path: string) => stat(path, { bigint: true }).catch(() => undefined);
  const [first, second] = await Promise.all([look(one), look(other)]);
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
