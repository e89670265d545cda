import { once } from "node:events";
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { runCommand } from "@petstore/cli";
import Database from "better-sqlite3";
import { expect, it, onTestFinished, vi } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { startConsole, useBuiltPetstore } from "../support/built-petstore.js";
import { databaseWithKey } from "../support/command.js";
import { openSocket } from "../support/raw-client.js";
import { runOnTerminal } from "../support/pseudo-terminal.js";
import { inCi } from "../../../../scripts/test-size.js";

const program = useBuiltPetstore();
type Headers = Readonly<Record<string, string>>;

/** Takes a console's link apart. The functions send one request with these headers and no more, as no browser would. */
function visit(url: string | URL) {
  const link = new URL(url);
  const token = link.hash.slice("#token=".length);
  const own: Headers = { Host: link.host, Origin: link.origin };
  const send = async (method: string, path: string, headers = own, body = "") => {
    const target = { host: "127.0.0.1", port: link.port, path };
    const sent = request({ ...target, method, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { statusCode: status = 0, headers: received } = response;
    const [Cookie = ""] = received["set-cookie"]?.[0]?.split(";") ?? [];
    return { status, received, Cookie, text: await text(response) };
  };
  const logIn = (secret = token, headers = own) =>
    send("POST", `${link.pathname}login`, headers, secret);
  const call = (name: string, input: unknown, headers: Headers) => {
    const all = { ...own, "Content-Type": "application/json", ...headers };
    return send("POST", `${link.pathname}api/${name}`, all, JSON.stringify(input));
  };
  return { link, page: link.pathname, token, own, send, logIn, call };
}

it("lets in who has the link, once, and refuses other users of the machine, other names of its address, other origins and other ports", async () => {
  const { database } = await databaseWithKey("--label", "acme");
  const [console, other] = [await startConsole(database), await startConsole(database)];
  const { link, page, token, own, send, logIn, call } = visit(console.url);
  const listKeys = (headers: Headers) =>
    call("keys/list", { search: "", order: "newest", page: 0 }, headers);

  expect(link.hostname).toBe("127.0.0.1");
  expect(page).toMatch(/^\/[\w-]{22}\/$/);
  expect(page).not.toBe(new URL(other.url).pathname);
  expect(token).toMatch(/^[\w-]{43}$/);
  for (const path of [page, "/", `${page}main.js`, `${page}api/keys/list`]) {
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const refused = await send(method, path);
      expect(refused.status, `${method} ${path}`).toBe(401);
      expect(refused.text).not.toMatch(/acme|pet_live_|keys\/list/);
    }
  }
  expect((await send("GET", page)).received).toMatchObject({
    "cache-control": "no-store",
    "content-security-policy": expect.stringMatching(/frame-ancestors 'none'/) as string,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const name = `petstore-console-${link.port}`;
  for (const Cookie of [`${name}=`, `${name}=${token}`, `${name}=x; ${name}`, token])
    expect((await listKeys({ Cookie })).status).toBe(401);
  for (const wrong of ["", token.slice(1), `${token}x`, "x".repeat(1_000_000)])
    expect((await logIn(wrong)).status).toBe(401);
  const local = `localhost:${link.port}`;
  const foreign: readonly Headers[] = Object.entries({
    Host: [`evil.example:${link.port}`, local, "127.0.0.1", `127.0.0.1:${Number(link.port) + 1}`],
    Origin: ["http://evil.example", `http://${local}`, "http://127.0.0.1:1", "null"],
    "Sec-Fetch-Site": ["cross-site", "same-site"],
  }).flatMap(([name, values]) => values.map((value) => ({ [name]: value })));
  for (const headers of foreign) {
    expect((await logIn(undefined, { ...own, ...headers })).status).toBe(403);
    const { status, received } = await send("GET", page, { ...own, ...headers });
    expect(status).toBe(403);
    expect(received).not.toHaveProperty("access-control-allow-origin");
  }

  const { status, received, Cookie } = await logIn();
  expect(status).toBe(204);
  const rules = `; Path=${page}; HttpOnly; SameSite=Strict`;
  expect(received["set-cookie"]).toEqual([
    expect.stringMatching(new RegExp(`^${name}=[\\w-]{43}${rules}$`)),
  ]);
  for (const base of ["", "http://a", "HTTP://a"])
    expect((await send("GET", base + page, { ...own, Cookie })).text).toContain("main.js");
  expect((await listKeys({ Cookie })).text).toContain("acme");
  expect((await logIn()).status).toBe(401);
  for (const headers of foreign) expect((await listKeys({ Cookie, ...headers })).status).toBe(403);
  // A script of another page, which the browser loads without asking.
  const fetched = { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors" };
  const script = { Host: link.host, Cookie, ...fetched };
  expect((await send("GET", `${page}main.js`, script)).status).toBe(403);
  const byLink = { ...script, "Sec-Fetch-Mode": "navigate" };
  expect((await send("GET", page, byLink)).text).toContain("main.js");
  expect(console.output()).not.toContain(Cookie.split("=")[1]);
  expect([await console.end("SIGTERM"), await other.end("SIGHUP")]).toEqual([0, 0]);
  await expect(send("GET", page)).rejects.toThrow();
});

it("responds at once, whatever waits on hundreds of other connections", async () => {
  const { database } = await databaseWithKey();
  const { url } = await startConsole(database);
  const { origin, host, pathname } = new URL(url);
  const start = (line: string) => `${line} HTTP/1.1\r\nHost: ${host}\r\n`;
  const sent = [
    "",
    start(`GET ${pathname}`),
    `${start(`POST ${pathname}login`)}Content-Length: 99\r\n\r\nx`,
    `${start(`GET ${pathname}`)}\r\n`.repeat(20),
  ];
  const sockets = await Promise.all(Array.from({ length: 300 }, () => openSocket(origin)));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const [index, socket] of sockets.entries())
    socket.pause().write(sent[index % sent.length] ?? "");
  for (const path of ["", "main.js", "api/info"]) {
    const signal = AbortSignal.timeout(9_000);
    expect((await fetch(new URL(pathname + path, origin), { signal })).status).toBe(401);
  }
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  await expect.poll(open).toBeCloseTo(200, -2);
});

it("finishes a running action at Ctrl-C, so that its secret is not lost", async () => {
  const { database } = await databaseWithKey();
  const { url, end, output } = await startConsole(database, "--port", "0");
  const { logIn, call } = visit(url);
  const { Cookie } = await logIn();
  const other = new Database(database);
  onTestFinished(() => void other.close());
  other.exec("begin immediate");
  const issued = call("keys/issue", { plan: "pro" }, { Cookie });
  expect((await call("info", {}, { Cookie })).status).toBe(200);
  const ended = end("SIGINT");
  await expect.poll(output).toContain("finishing running requests");
  other.exec("rollback");
  expect((await issued).text).toMatch(/"pet_live_\w{36}"/);
  expect(await ended).toBe(0);
});

it.runIf(inCi)(
  "on a terminal, opens the browser with a file that only its user can read, prints a new link after Enter, also in the foreground again, which ends the one before, and each action",
  async () => {
    const folder = createFolder();
    const { database } = await databaseWithKey();
    /** Starts a console whose `xdg-open` writes its argument into a file of this name. */
    const open = (name: string, lineOf = (command: string) => command) => {
      const [opener, opened] = [join(folder, "xdg-open"), join(folder, name)];
      const script = `#!/bin/sh\necho "$1" > ${folder}/part && mv ${folder}/part "$OPENED"\n`;
      writeFileSync(opener, script, { mode: 0o755 });
      const env = `env "OPENED=${opened}" "PATH=${folder}:$PATH"`;
      const command = [env, process.execPath, program(), "console", "--database", database];
      const terminal = runOnTerminal(lineOf(command.join(" ")), 200, 24);
      const shown = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/#token=[\w-]{43}/g;
      const links = () => [...terminal.output().matchAll(shown)].map(([link]) => new URL(link));
      return { ...terminal, links, opened };
    };
    const quiet = open("quiet", (command) => `bash -m -c '${command} --no-open & read; fg'`);
    const { output, links, opened, type, ended } = open("opened");
    await expect.poll(() => existsSync(opened)).toBe(true);
    const file = fileURLToPath(readFileSync(opened, "utf8").trim());
    expect(basename(file)).toBe("open.html");
    for (const path of [file, dirname(file)]) expect(statSync(path).mode & 0o077).toBe(0);
    const redirect = readFileSync(file, "utf8");

    type("\u001A\r"); // Without a shell, Ctrl-Z has no effect.
    await expect.poll(links).toHaveLength(2);
    const [first, second] = links();
    if (first === undefined || second === undefined) throw new Error("There are two links.");
    expect(redirect).toContain(String(first));
    expect((await visit(first).logIn()).status).toBe(401);
    const { logIn, call } = visit(second);
    const { status, Cookie } = await logIn();
    expect(status).toBe(204);
    const issued = await call("keys/issue", { plan: "pro", label: "acme" }, { Cookie });
    const { secret, key } = JSON.parse(issued.text) as { secret: string; key: { id: string } };
    await expect.poll(output).toContain(`${userInfo().username} key_issued ${key.id}`);
    expect(output()).not.toContain(secret);
    await expect.poll(quiet.links).toHaveLength(1);
    quiet.type("\r\r"); // One is for the shell, which then moves the console to the foreground.
    await expect.poll(quiet.links).toHaveLength(2);
    for (const each of [quiet, { type, ended }]) {
      each.type("\u0003");
      expect(await each.ended).toBe(0);
    }
    expect([existsSync(file), existsSync(quiet.opened)]).toEqual([false, false]);
  },
);

it("says on standard error that its link, and which action, standard output has not taken", async () => {
  const { database, id } = await databaseWithKey();
  const stdin = new PassThrough();
  const [out, error] = [vi.fn(), vi.fn()];
  const written = (mustBeRead = false) => Promise.resolve(mustBeRead ? "it is full" : undefined);
  const streams = { stdin, stdout: stdin, stderr: stdin };
  const handlers = process.listenerCount("SIGTERM");
  const ended = runCommand(["console", "--database", database], { out, error, written }, streams);
  await expect.poll(() => error.mock.lastCall).toEqual([expect.stringMatching(/full: the link$/)]);
  const { logIn, call } = visit(/http\S+/.exec(String(out.mock.lastCall))?.[0] ?? "");
  const { Cookie } = await logIn();
  await call("keys/revoke", { id }, { Cookie });
  expect(error.mock.lastCall).toEqual([expect.stringMatching(`full: .* key_revoked ${id}$`)]);
  const full = "before insert on api_keys begin select raise(abort, 'no room'); end";
  new Database(database).exec(`create trigger full ${full}`).close();
  const issue = () => call("keys/issue", { plan: "pro" }, { Cookie });
  expect((await issue()).status).toBe(503);
  expect(error.mock.lastCall).toEqual([expect.stringContaining("SQLITE_CONSTRAINT_TRIGGER")]);
  truncateSync(`${database}-wal`, 2 ** 27);
  const last = () => issue().then(() => String(error.mock.lastCall));
  await expect.poll(last).toContain("128 MiB");
  stdin.destroy();
  expect(await ended).toBe(0);
  // A later signal must not end the process before its last lines are read.
  expect(process.listenerCount("SIGTERM")).toBe(handlers + 1);
});
