import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** @param {string} name */
export function serverFile(name) {
  return fileURLToPath(new URL(`servers/${name}.js`, import.meta.url));
}

/**
 * Starts a server, runs something against it, and stops it.
 * @template T
 * @param {string} name
 * @param {Record<string, string>} environment
 * @param {(url: string, startup: number) => Promise<T>} use gets the base address and the
 *   milliseconds from spawn to listening
 * @param {readonly string[]} [flags] for Node
 * @param {string} [node] the path of the Node that runs the server
 * @returns {Promise<T>}
 */
export async function withServer(name, environment, use, flags = [], node = process.execPath) {
  const started = performance.now();
  const child = spawn(node, [...flags, serverFile(name)], {
    env: { ...process.env, NODE_ENV: "production", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    // A server first prints its port, or an address below which it serves.
    const [output] = await once(child.stdout.setEncoding("utf8"), "data");
    const [, port = ""] = /(\d+)(?:\/v1)?\s*$/m.exec(String(output)) ?? [];
    return await use(`http://127.0.0.1:${port}`, performance.now() - started);
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}
