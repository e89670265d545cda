import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("no port");
}

it("the example mount serves the store beside the host's own page", async () => {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), fileURLToPath(new URL("mount.ts", import.meta.url))],
    { env: { ...process.env, PORT: String(port) }, stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const line = await new Promise((resolve) => child.stdout.once("data", resolve));
    const [, authorization = ""] = String(line).trim().split(": ");
    const base = `http://127.0.0.1:${port}`;
    const listed = await fetch(`${base}/v1/pets`, { headers: { authorization } });
    expect([listed.status, await listed.json()]).toEqual([200, []]);
    expect(await (await fetch(base)).text()).toBe("The host's own page.");
  } finally {
    child.kill();
    await once(child, "exit");
  }
});
