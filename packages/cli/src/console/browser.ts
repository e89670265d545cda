import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Opens a link in the browser, if there is one. Other users of the machine can read the arguments of a command, so the
 * browser gets a file that only this user can read and that leads to the link. Resolves to a function that removes it.
 */
export async function openInBrowser(link: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "petstore-console-"));
  const file = join(folder, "open.html");
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${link}"><title>Pet store console</title>\n`;
  await writeFile(file, page, { mode: 0o600 });
  const [program, ...args] = openers.get(process.platform) ?? ["xdg-open"];
  spawn(program, [...args, pathToFileURL(file).href], { detached: true, stdio: "ignore" })
    // The link was printed, too.
    .on("error", () => undefined)
    .unref();
  return () => rm(folder, { recursive: true, force: true });
}

/** The commands that open a URL; others use `xdg-open`. */
const openers: ReadonlyMap<string, readonly [string, ...string[]]> = new Map([
  ["darwin", ["open"]],
  ["win32", ["cmd", "/c", "start", ""]],
]);
