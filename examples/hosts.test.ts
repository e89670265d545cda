import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { generate } from "selfsigned";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../scripts/ports.js";
import { inCi } from "../scripts/test-size.js";
import { useBundled } from "../scripts/bundled-programs.js";

const folder = mkdtempSync(join(tmpdir(), "petstore-examples-"));
const localhost = [{ name: "commonName", value: "localhost" }];
const { private: key, cert } = await generate(localhost, { keyType: "ec", algorithm: "sha256" });
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

/** In CI, all of them. */
const TRIED = inCi ? HOSTS : HOSTS.slice(0, 1);
const FETCH = "examples/fetch.ts";
const CONSOLE = "examples/console.ts";
const program = useBundled("examples", [...TRIED.map(([example]) => example), FETCH, CONSOLE]);

it.each(TRIED)("%s serves the store at %s beside its own page", async (example, basePath) => {
  const { port, printed } = await start(example, tls);
  const [, authorization = ""] = (await printed).trim().split(": ");
  const origin = `${example === "examples/https.ts" ? "https" : "http"}://127.0.0.1:${port}`;
  // The line with the key may come before the port is open.
  await vi.waitFor(() => visit(origin, authorization), 60_000);
  expect(await visit(`${origin}${basePath}/pets`, authorization)).toEqual([200, "[]"]);
  expect(await visit(origin, authorization)).toEqual([200, "The host's own page."]);
});

it("examples/fetch.ts prints what it says", async () => {
  expect(await (await start(FETCH)).printed).toBe(
    '201 {"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}\n',
  );
});

it("examples/console.ts shows the console to the operator alone, and reports what is done", async () => {
  const { port, printed } = await start(CONSOLE, { OPERATOR_PASSWORD: "woof" });
  const Origin = `http://127.0.0.1:${port}`;
  const issue = (password: string) => {
    const Authorization = `Basic ${btoa(`anna:${password}`)}`;
    const headers = { Authorization, "Content-Type": "application/json", Origin };
    const body = '{"plan":"free"}';
    return fetch(`${Origin}/console/api/keys/issue`, { method: "POST", headers, body });
  };
  expect((await vi.waitFor(() => issue("meow"), 60_000)).status).toBe(401);
  const { secret } = (await (await issue("woof")).json()) as { secret: string };
  expect(await printed).toMatch(/ anna key_issued\n$/);
  expect(await visit(`${Origin}/v1/pets`, `Bearer ${secret}`)).toEqual([200, "[]"]);
});

it("examples/next-route.ts exports the methods that Next permits, and responds to each", async () => {
  const filename = join(folder, "next.db");
  vi.stubEnv("PETSTORE_DATABASE", filename);
  const route = await import("./next-route.js");
  // `next build` imports the file too.
  expect(existsSync(filename)).toBe(false);
  const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
  const store = createPetStore({ storage });
  const { secret } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
  const headers = { authorization: `Bearer ${secret}` };
  const methods = Object.keys(route).sort();
  expect(methods).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);
  const allowed: string[] = [];
  for (const [method, handle] of Object.entries(route)) {
    const request = new Request("http://pets.test/api/v1/pets", { method, headers });
    const response = await handle(request);
    expect(response.headers.get("X-RateLimit-Limit")).toBe("60");
    if (response.status !== 405) allowed.push(method);
  }
  expect(allowed).toEqual(["GET", "HEAD", "POST"]);
  await store.close();
});

/** Runs an example until the test ends. `printed` is what it prints first. */
async function start(example: Parameters<typeof program>[0], env: Record<string, string> = {}) {
  const port = await freePort();
  const child = spawn(process.execPath, [program(example)], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  });
  return { port, printed: once(child.stdout, "data").then(String) };
}

async function visit(url: string, authorization: string) {
  const headers = { authorization };
  if (url.startsWith("https:")) {
    const sent = get(url, { ca: cert, headers });
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return [response.statusCode, await text(response)];
  }
  const response = await fetch(url, { headers });
  return [response.status, await response.text()];
}
