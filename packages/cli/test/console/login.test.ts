import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startConsole, useBuiltPetstore } from "../support/built-petstore.js";
import { issueKey, newDatabase, petstore } from "../support/command.js";
import { runOnTerminal } from "../support/pseudo-terminal.js";

const program = useBuiltPetstore();

/** Sends one request with exactly these headers, as no browser would. */
async function send(
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ readonly status: number; readonly cookie: string; readonly text: string }> {
  const sent = request({ host: "127.0.0.1", port: url.port, path: url.pathname, method, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return {
    status: response.statusCode ?? 0,
    cookie: String(response.headers["set-cookie"] ?? ""),
    text,
  };
}

/** A console, and a function that logs in with a token and resolves to the cookie. */
async function open() {
  const database = newDatabase();
  await issueKey(database, "--label", "acme");
  const console = await startConsole(database);
  const link = new URL(console.url);
  const token = link.hash.slice("#token=".length);
  const page = new URL(link.pathname, link);
  const login = new URL(`${link.pathname}login`, link);
  const list = new URL(`${link.pathname}api/keys/list`, link);
  const own = { Host: link.host, Origin: link.origin };
  const logIn = (text = token, headers: Readonly<Record<string, string>> = own) =>
    send(login, "POST", { ...headers, "Content-Length": String(text.length) }, text);
  const query = JSON.stringify({ search: "", order: "newest", page: 0 });
  const listKeys = (headers: Readonly<Record<string, string>>) => {
    const length = String(query.length);
    const json = { "Content-Type": "application/json", "Content-Length": length };
    return send(list, "POST", { ...own, ...json, ...headers }, query);
  };
  return { console, database, link, token, page, own, logIn, listKeys };
}

describe("petstore console", () => {
  it("lets in who has the link, once, and shows the keys", async () => {
    const { console, link, page, own, token, logIn, listKeys } = await open();
    expect(link.hostname).toBe("127.0.0.1");
    expect(token).toMatch(/^[\w-]{43}$/);
    const { status, cookie } = await logIn();
    expect(status).toBe(204);
    expect(cookie).toMatch(
      new RegExp(
        `^petstore-console-${link.port}=[\\w-]{43}; Path=${link.pathname}; HttpOnly; SameSite=Strict$`,
      ),
    );
    const [Cookie = ""] = cookie.split(";");
    expect((await send(page, "GET", { ...own, Cookie })).text).toContain("main.js");
    expect((await listKeys({ Cookie })).text).toContain("acme");
    expect((await logIn()).status).toBe(401);
    expect(console.output()).not.toContain(Cookie.split("=")[1]);
  });

  it("refuses other users of the machine", async () => {
    const { link, page, own, token, logIn, listKeys } = await open();
    const other = new URL("/", link);
    for (const url of [page, other, new URL("main.js", page), new URL("api/keys/list", page)]) {
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
        const { status, text } = await send(url, method, own);
        expect(status, `${method} ${url.pathname}`).toBe(401);
        expect(text).not.toMatch(/acme|pet_live_|keys\/list/);
      }
    }
    const name = `petstore-console-${link.port}`;
    for (const Cookie of [`${name}=`, `${name}=${token}`, `${name}=x; ${name}`, token]) {
      expect((await listKeys({ Cookie })).status).toBe(401);
    }
    for (const wrong of ["", token.slice(1), `${token}x`, "x".repeat(1_000_000)]) {
      expect((await logIn(wrong)).status).toBe(401);
    }
    expect((await logIn()).status).toBe(204);
  });

  it("refuses other names of its address, other origins and other ports, also with the cookie", async () => {
    const { link, page, own, logIn, listKeys } = await open();
    const { port } = link;
    for (const headers of [
      { ...own, Host: `evil.example:${port}` },
      { ...own, Host: `localhost:${port}` },
      { ...own, Host: "127.0.0.1" },
      { ...own, Host: `127.0.0.1:${Number(port) + 1}` },
      { ...own, Origin: "http://evil.example" },
      { ...own, Origin: `http://localhost:${port}` },
      { ...own, Origin: "http://127.0.0.1:1" },
      { ...own, Origin: "null" },
      { ...own, "Sec-Fetch-Site": "cross-site" },
      { ...own, "Sec-Fetch-Site": "same-site" },
    ]) {
      expect((await logIn(undefined, headers)).status).toBe(403);
      expect((await send(page, "GET", headers)).status).toBe(403);
      expect((await listKeys(headers)).status).toBe(403);
    }
    const [Cookie = ""] = (await logIn()).cookie.split(";");
    expect((await listKeys({ Cookie })).status).toBe(200);
    expect((await listKeys({ Cookie, Host: `evil.example:${port}` })).status).toBe(403);
    expect((await listKeys({ Cookie, Origin: "http://127.0.0.1:1" })).status).toBe(403);
    expect((await listKeys({ Cookie, "Sec-Fetch-Site": "same-site" })).status).toBe(403);
    // A script of another page, which the browser loads without asking.
    const script = {
      Host: link.host,
      Cookie,
      "Sec-Fetch-Site": "same-site",
      "Sec-Fetch-Mode": "no-cors",
    };
    expect((await send(new URL("main.js", page), "GET", script)).status).toBe(403);
  });

  it("listens on another path at each start", async () => {
    const [one, other] = [await open(), await open()];
    expect(one.link.pathname).toMatch(/^\/[\w-]{22}\/$/);
    expect(one.link.pathname).not.toBe(other.link.pathname);
  });

  it("says why it cannot start", async () => {
    const { link, database } = await open();
    const port = ["--port", link.port];
    const used = await petstore("console", "--no-open", "--database", database, ...port);
    expect(used.error).toContain("the port is in use");
    const missing = await petstore("console", "--database", "/nowhere/pets.db");
    expect(missing.error).toContain("there is no database");
    const wrong = await petstore("console", "--url", "ftp://x");
    expect(wrong.error).toContain("must be a URL");
    expect([used.code, missing.code, wrong.code]).toEqual([1, 1, 1]);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("ends at %s", async (signal) => {
    const { console, own, page } = await open();
    expect(await console.end(signal)).toBe(0);
    await expect(send(page, "GET", own)).rejects.toThrow();
  });
});

describe("petstore console on a terminal", () => {
  /** The environment of a terminal whose `xdg-open` writes down its argument and the file that it names. */
  function withBrowser() {
    const folder = mkdtempSync(join(tmpdir(), "petstore-browser-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const opener = join(folder, "xdg-open");
    const opened = join(folder, "opened");
    writeFileSync(opener, `#!/bin/sh\necho "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`);
    chmodSync(opener, 0o755);
    const database = newDatabase();
    const command = (...options: string[]) =>
      `env "PATH=${folder}:$PATH" "${process.execPath}" "${program()}" console --database "${database}" ${options.join(" ")}`;
    return { command, opened, database };
  }

  const linksOf = (output: string): readonly string[] =>
    output.match(/http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/#token=[\w-]{43}/g) ?? [];

  it("opens the browser with a file that only its user can read, and removes it at the end", async () => {
    const { command, opened, database } = withBrowser();
    await issueKey(database);
    const { output, type, ended } = runOnTerminal(command(), 200, 24);
    await expect.poll(() => existsSync(opened)).toBe(true);
    const argument = readFileSync(opened, "utf8").trim();
    expect(argument).toMatch(/^file:\/\/.*\/open\.html$/);
    const file = fileURLToPath(argument);
    expect(readFileSync(file, "utf8")).toContain(linksOf(output())[0]);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(statSync(join(file, "..")).mode & 0o077).toBe(0);
    type("\u0003");
    expect(await ended).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it("prints a new link after Enter, which ends the one before, and each action", async () => {
    const { command, opened, database } = withBrowser();
    await issueKey(database);
    const { output, type, ended } = runOnTerminal(command("--no-open"), 200, 24);
    await expect.poll(() => linksOf(output())).toHaveLength(1);
    type("\r");
    await expect.poll(() => linksOf(output())).toHaveLength(2);
    const [first, second] = linksOf(output()).map((link) => new URL(link));
    if (first === undefined || second === undefined) throw new Error("There are two links.");
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
    expect(existsSync(opened)).toBe(false);
    type("\u0003");
    expect(await ended).toBe(0);
  });
});
