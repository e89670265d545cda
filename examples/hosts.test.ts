import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { afterAll, expect, it, vi } from "vitest";
import { sized } from "../scripts/test-size.js";
import { useBundled } from "../scripts/bundled-programs.js";
import { createSelfSigned } from "../packages/http-adapter/test/support/self-signed.js";

const folder = mkdtempSync(join(tmpdir(), "petstore-examples-"));
const { key, cert } = createSelfSigned();
const tls = { TLS_KEY: join(folder, "key.pem"), TLS_CERT: join(folder, "cert.pem") };
writeFileSync(tls.TLS_KEY, key);
writeFileSync(tls.TLS_CERT, cert);

afterAll(() => rmSync(folder, { recursive: true }));

const HOSTS = [
  ["examples/server.ts", "/v1"],
  ["examples/mount.ts", "/v1"],
  ["examples/https.ts", "/v1"],
  ["examples/express.ts", "/v1"],
  ["examples/express-router.ts", "/api/v1"],
  ["examples/fastify.ts", "/api/v1"],
  ["examples/koa.ts", "/v1"],
  ["examples/hono.ts", "/api/v1"],
] as const;

/** Every which example is tried: each of them in CI. */
const TRIED = HOSTS.filter((_, index) => index % sized(3, 1, 1) === 0);
const FETCH = "examples/fetch.ts";
const CONSOLE = "examples/console.ts";
const program = useBundled("examples", [...TRIED.map(([example]) => example), FETCH, CONSOLE]);

it.each(TRIED)(
  "%s serves the store at %s beside the host's own page",
  async (example, basePath) => {
    const port = await freePort();
    const child = start(example, { ...tls, PORT: String(port) });
    try {
      const line = await firstLine(child.stdout);
      const [, authorization = ""] = line.trim().split(": ");
      const visit = example === "examples/https.ts" ? visitSecurely : visitPlainly;
      // The line with the key may come before the port is open.
      await vi.waitFor(() => visit(port, "/", authorization), 60_000);
      expect(await visit(port, `${basePath}/pets`, authorization)).toEqual([200, "[]"]);
      expect(await visit(port, "/", authorization)).toEqual([200, "The host's own page."]);
    } finally {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    }
  },
);

it("examples/fetch.ts prints what it says", async () => {
  const stdout = start(FETCH).stdout;
  expect(await text(stdout)).toBe(
    '201 {"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}\n',
  );
});

it("examples/console.ts shows the console to the operator alone, and reports what is done", async () => {
  const port = await freePort();
  const child = start(CONSOLE, { PORT: String(port), OPERATOR_PASSWORD: "woof" });
  try {
    const origin = `http://127.0.0.1:${port}`;
    const issue = (password: string) =>
      fetch(`${origin}/console/api/keys/issue`, {
        method: "POST",
        headers: {
          Authorization: `Basic ${btoa(`anna:${password}`)}`,
          "Content-Type": "application/json",
          Origin: origin,
        },
        body: '{"plan":"free"}',
      });
    const refused = await vi.waitFor(() => issue("meow"), 60_000);
    expect(refused.status).toBe(401);
    const { secret } = (await (await issue("woof")).json()) as { secret: string };
    expect(await firstLine(child.stdout)).toMatch(/ anna key_issued\n$/);
    expect(await visitPlainly(port, "/v1/pets", `Bearer ${secret}`)).toEqual([200, "[]"]);
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  }
});

it("examples/next-route.ts exports the methods that Next permits, and responds to each", async () => {
  const filename = join(folder, "next.db");
  vi.stubEnv("PETSTORE_DATABASE", filename);
  const route = await import("./next-route.js");
  // `next build` imports the file too.
  expect(existsSync(filename)).toBe(false);
  const store = createPetStore({
    storage: (await openSqliteStorage({ filename }))._unsafeUnwrap(),
  });
  const issued = await store.keys.issue({ plan: "free" });
  const authorization = `Bearer ${issued._unsafeUnwrap().secret}`;
  const statuses = Object.entries(route).map(async ([method, handle]) => {
    const url = "http://pets.test/api/v1/pets/1";
    return [
      method,
      (await handle(new Request(url, { method, headers: { authorization } }))).status,
    ];
  });
  expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
    ...{ GET: 404, HEAD: 404 },
    ...{ POST: 405, PUT: 405, PATCH: 405, DELETE: 405, OPTIONS: 405 },
  });
  await store.close();
});

function start(example: Parameters<typeof program>[0], env: Record<string, string> = {}) {
  return spawn(process.execPath, [program(example)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** What a process prints first; `""` when it ends before. */
async function firstLine(stdout: Readable): Promise<string> {
  for await (const chunk of stdout) return String(chunk);
  return "";
}

async function visitPlainly(port: number, path: string, authorization: string) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } });
  return [answer.status, await answer.text()];
}

async function visitSecurely(port: number, path: string, authorization: string) {
  const url = `https://127.0.0.1:${port}${path}`;
  return new Promise((resolve, reject) => {
    get(url, { ca: cert, headers: { authorization } }, (answer) => {
      void text(answer).then((body) => resolve([answer.statusCode, body]));
    }).on("error", reject);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("no port");
}
