import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { startConsole, useBuiltPetstore } from "../support/built-petstore.js";
import { issueKey, newDatabase } from "../support/command.js";
import { openSocket } from "../support/raw-client.js";
import { runOnTerminal } from "../support/pseudo-terminal.js";
import { inCi } from "../../../../scripts/test-size.js";

const program = useBuiltPetstore();

type Headers = Readonly<Record<string, string>>;

/** Sends one request with exactly these headers, as no browser would. */
async function send(
  url: Pick<URL, "port" | "pathname">,
  method: string,
  headers: Headers,
  body = "",
) {
  const sent = request({ host: "127.0.0.1", port: url.port, path: url.pathname, method, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const [cookie = ""] = response.headers["set-cookie"] ?? [];
  const { statusCode: status = 0, headers: received } = response;
  return { status, cookie, received, text: await text(response) };
}

describe("petstore console", () => {
  it("lets in who has the link, once, and refuses other users of the machine, other names of its address, other origins and other ports", async () => {
    const database = newDatabase();
    await issueKey(database, "--label", "acme");
    const [console, other] = [await startConsole(database), await startConsole(database)];
    const link = new URL(console.url);
    const page = new URL(link.pathname, link);
    const token = link.hash.slice("#token=".length);
    const own = { Host: link.host, Origin: link.origin };
    const post = (path: string, headers: Headers, body: string) => {
      const length = { "Content-Length": String(body.length) };
      return send(new URL(path, page), "POST", { ...length, ...headers }, body);
    };
    const logIn = (secret = token, headers: Headers = own) => post("login", headers, secret);
    const query = JSON.stringify({ search: "", order: "newest", page: 0 });
    const listKeys = (headers: Headers) =>
      post("api/keys/list", { ...own, "Content-Type": "application/json", ...headers }, query);

    expect(link.hostname).toBe("127.0.0.1");
    expect(link.pathname).toMatch(/^\/[\w-]{22}\/$/);
    expect(link.pathname).not.toBe(new URL(other.url).pathname);
    expect(token).toMatch(/^[\w-]{43}$/);
    for (const path of ["", "/", "main.js", "api/keys/list"]) {
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
        const refused = await send(new URL(path, page), method, own);
        expect(refused.status, `${method} ${path}`).toBe(401);
        expect(refused.text).not.toMatch(/acme|pet_live_|keys\/list/);
      }
    }
    const { received } = await send(page, "GET", own);
    expect(received["content-security-policy"]).toMatch(/frame-ancestors 'none'/);
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
      const { status, received } = await send(page, "GET", { ...own, ...headers });
      expect(status).toBe(403);
      expect(received).not.toHaveProperty("access-control-allow-origin");
    }

    const { status, cookie } = await logIn();
    expect(status).toBe(204);
    const rules = `; Path=${link.pathname}; HttpOnly; SameSite=Strict`;
    expect(cookie).toMatch(new RegExp(`^${name}=[\\w-]{43}${rules}$`));
    const [Cookie = ""] = cookie.split(";");
    for (const base of ["", "http://a", "HTTP://a"]) {
      const target = { port: page.port, pathname: base + page.pathname };
      expect((await send(target, "GET", { ...own, Cookie })).text).toContain("main.js");
    }
    expect((await listKeys({ Cookie })).text).toContain("acme");
    expect((await logIn()).status).toBe(401);
    for (const headers of foreign)
      expect((await listKeys({ Cookie, ...headers })).status).toBe(403);
    // A script of another page, which the browser loads without asking.
    const fetched = { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors" };
    const script = { Host: link.host, Cookie, ...fetched };
    expect((await send(new URL("main.js", page), "GET", script)).status).toBe(403);
    expect(console.output()).not.toContain(Cookie.split("=")[1]);
    expect([await console.end("SIGTERM"), await other.end("SIGHUP")]).toEqual([0, 0]);
    await expect(send(page, "GET", own)).rejects.toThrow();
  });

  it("responds at once, whatever waits on hundreds of other connections", async () => {
    const database = newDatabase();
    await issueKey(database);
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
      // Before the others have timed out.
      const signal = AbortSignal.timeout(9_000);
      expect((await fetch(new URL(pathname + path, origin), { signal })).status).toBe(401);
    }
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(190);
  });

  it("finishes a running action at Ctrl-C, so that its secret is not lost", async () => {
    const database = newDatabase();
    await issueKey(database);
    const { url, end, output } = await startConsole(database);
    const own = { Origin: new URL(url).origin, "Content-Type": "application/json" };
    const post = (path: string, body: string, headers = {}) =>
      fetch(new URL(path, url), { method: "POST", headers: { ...own, ...headers }, body });
    const { headers } = await post("login", new URL(url).hash.slice("#token=".length));
    const [Cookie = ""] = (headers.get("Set-Cookie") ?? "").split(";");
    const other = new Database(database);
    onTestFinished(() => void other.close());
    other.exec("begin immediate");
    const issued = post("api/keys/issue", '{"plan":"pro"}', { Cookie });
    // When this has its response, the action has arrived, too.
    expect((await post("api/info", "{}", { Cookie })).status).toBe(200);
    const ended = end("SIGINT");
    await expect.poll(output).toContain("finishing running requests");
    other.exec("rollback");
    expect(await (await issued).text()).toMatch(/"pet_live_\w{36}"/);
    expect(await ended).toBe(0);
  });

  it.runIf(inCi)(
    "on a terminal, opens the browser with a file that only its user can read, prints a new link after Enter, which ends the one before, and each action",
    async () => {
      const folder = createFolder();
      const database = newDatabase();
      await issueKey(database);
      /** Starts a console whose `xdg-open` writes its argument into a file of this name. */
      const open = (name: string, ...options: readonly string[]) => {
        const [opener, opened] = [join(folder, "xdg-open"), join(folder, name)];
        const script = `#!/bin/sh\necho "$1" > ${folder}/part && mv ${folder}/part "$OPENED"\n`;
        writeFileSync(opener, script, { mode: 0o755 });
        const env = `env "OPENED=${opened}" "PATH=${folder}:$PATH"`;
        const command = [env, process.execPath, program(), "console", "--database", database];
        const terminal = runOnTerminal([...command, ...options].join(" "), 200, 24);
        const shown = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/#token=[\w-]{43}/g;
        const links = () => [...terminal.output().matchAll(shown)].map(([link]) => new URL(link));
        return { ...terminal, links, opened };
      };
      const quiet = open("quiet", "--no-open");
      const { output, links, opened, type, ended } = open("opened");
      await expect.poll(() => existsSync(opened)).toBe(true);
      const argument = readFileSync(opened, "utf8").trim();
      expect(argument).toMatch(/^file:\/\/.*\/open\.html$/);
      const file = fileURLToPath(argument);
      for (const path of [file, dirname(file)]) expect(statSync(path).mode & 0o077).toBe(0);
      const redirect = readFileSync(file, "utf8");

      type("\r");
      await expect.poll(links).toHaveLength(2);
      const [first, second] = links();
      if (first === undefined || second === undefined) throw new Error("There are two links.");
      expect(redirect).toContain(String(first));
      const headers = { Origin: first.origin };
      const login = (link: URL) =>
        fetch(new URL("login", link), { method: "POST", headers, body: link.hash.slice(7) });
      expect((await login(first)).status).toBe(401);
      const { status, headers: set } = await login(second);
      expect(status).toBe(204);
      const [Cookie = ""] = (set.get("Set-Cookie") ?? "").split(";");
      const issued = await fetch(new URL("api/keys/issue", second), {
        method: "POST",
        headers: { ...headers, Cookie, "Content-Type": "application/json" },
        body: '{"plan":"pro","label":"acme"}',
      });
      const { secret, key } = (await issued.json()) as { secret: string; key: { id: string } };
      await expect.poll(output).toContain(`${userInfo().username} key_issued ${key.id}`);
      expect(output()).not.toContain(secret);
      await expect.poll(quiet.links).toHaveLength(1);
      for (const each of [quiet, { type, ended }]) {
        each.type("\u0003");
        expect(await each.ended).toBe(0);
      }
      expect([existsSync(file), existsSync(quiet.opened)]).toEqual([false, false]);
    },
  );
});
