import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { inject, vi } from "vitest";

/**
 * Fills a folder that all test files of a run share, unless another file has or does so now. Resolves to
 * the path of the folder when it is full; rejects if it could not be filled, here or in the other file.
 */
export async function fillOnce(
  name: string,
  fill: (folder: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(inject("sharedFolder"), name);
  const [isFull, hasFailed] = [`${folder}.full`, `${folder}.failed`];
  try {
    mkdirSync(folder);
  } catch {
    await vi.waitUntil(() => existsSync(isFull) || existsSync(hasFailed), { timeout: 100_000 });
    if (existsSync(isFull)) return folder;
    throw new Error(`Another test file has failed to fill the shared folder "${name}".`);
  }
  try {
    await fill(folder);
  } catch (error) {
    mkdirSync(hasFailed);
    throw error;
  }
  mkdirSync(isFull);
  return folder;
}
