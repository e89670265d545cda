import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { inject, vi } from "vitest";

/**
 * Fills a folder that all test files of a run share, unless another file has or does so now. Resolves to
 * the path of the folder when it is full.
 */
export async function fillOnce(
  name: string,
  fill: (folder: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(inject("sharedFolder"), name);
  const isFull = `${folder}.full`;
  try {
    mkdirSync(folder);
  } catch {
    await vi.waitUntil(() => existsSync(isFull), { timeout: 100_000 });
    return folder;
  }
  await fill(folder);
  mkdirSync(isFull);
  return folder;
}
