import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import {
  startBuilt,
  useBuiltPetstore,
  useServer,
  type BuiltServer,
} from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase } from "./support/command.js";
import { sized } from "../../../scripts/test-size.js";
import { madeUpKey } from "../../storage-sqlite/test/limits/made-up-key.js";
import { openSocket, sendAndReset, sendUntilClosed } from "./support/raw-client.js";

const program = useBuiltPetstore();
const HOST = "Host: pets.test\r\n";
const BODY = `Content-Length: 27\r\n\r\n${"x".repeat(27)}`;

const start = (...args: readonly string[]): Promise<BuiltServer> =>
  startBuilt([process.execPath, program()], ...args);

const bearer = (secret: string): string => `Authorization: Bearer ${secret}\r\n`;

const origin = (url: string): string => new URL(url).origin;

/** Expects that the server serves, and has printed no error, after it received this. */
async function expectServing(server: BuiltServer, received: string): Promise<void> {
  const health = await fetch(`${origin(server.url)}/healthz`).then(({ status }) => status, String);
  expect(health, received).toBe(200);
  expect(server.output(), received).toMatch(/^petstore listens on \S+.*\n(?: {2}.*\n)*$/);
}

/** Bytes that clients send in one segment before they reset the connection. */
const RESET: readonly [name: string, bytes: string][] = [
  ["CONNECT", `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`],
  ["an upgrade", `GET /v1/pets HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: x\r\n\r\n`],
  ["a bad chunk", `POST /v1/pets HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
  ["a parser error", "nonsense\r\n\r\n"],
  ["half a body", `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n{"name":`],
  ["a refused expectation", `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: x\r\n\r\n`],
];

/** Bytes that clients send in one segment. The response to the first message is the last one of its connection. */
const SEGMENTS: readonly [name: string, segment: string][] = [
  [
    "an expectation, a body and a made-up key",
    `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: 100-continue\r\n\r\n` +
      `GET /v1/pets HTTP/1.1\r\n${HOST}${BODY}` +
      `GET /v1/pets HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`,
  ],
  [
    "a wrong method for the docs, a body and a made-up key",
    `DELETE /docs HTTP/1.1\r\n${HOST}\r\n` +
      `POST /v1/pets HTTP/1.1\r\n${HOST}${BODY}` +
      `GET /v1 HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`,
  ],
  [
    "a wrong method for the docs, a body for the health check and a made-up key",
    `DELETE /docs HTTP/1.1\r\n${HOST}\r\n` +
      `GET /readyz HTTP/1.1\r\n${HOST}${BODY}` +
      `GET /v1 HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`,
  ],
  [
    "two Hosts, a body and a made-up key",
    `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}\r\n` +
      `POST /v1/pets HTTP/1.1\r\n${HOST}${BODY}` +
      `GET /v1/pets HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`,
  ],
  [
    "an old version, a body and a made-up key",
    `GET /healthz HTTP/1.0\r\n\r\n` +
      `POST /v1/pets HTTP/1.1\r\n${HOST}${BODY}` +
      `GET /v1/pets HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`,
  ],
];

describe.each(["1", ...(sized(0, 1, 1) > 0 ? ["2"] : [])])(
  "petstore serve --workers %s",
  (count) => {
    const server = useServer(program, "--workers", count);

    it("survives bad messages and a reset, and responds to the first of several messages only", async () => {
      const { url } = server();
      for (const [name, bytes] of RESET) {
        for (let count = 0; count < sized(2, 30, 100); count += 1) await sendAndReset(url, bytes);
        await expectServing(server(), name);
      }
      for (const [name, segment] of SEGMENTS) {
        for (let count = 0; count < sized(1, 8, 40); count += 1) {
          const received = await sendUntilClosed(url, segment);
          expect(received.match(/HTTP\/1\.1 (?!100)\d\d\d /g), name).toHaveLength(1);
          expect(received, name).toMatch(/\r\nConnection: close\r\n/i);
        }
        await expectServing(server(), name);
      }
    });

    it("performs no request after a response of the docs that closes the connection", async () => {
      const { url, database } = server();
      const secret = await issueUnlimitedKey(database);
      const pet = '{"name":"Rex","categoryId":1}';
      const received = await sendUntilClosed(
        url,
        `DELETE /docs HTTP/1.1\r\n${HOST}\r\n` +
          `POST /v1/pets HTTP/1.1\r\n${HOST}${bearer(secret)}Content-Length: ${pet.length}\r\n\r\n${pet}`,
      );
      expect(received.match(/HTTP\/1\.1 \d\d\d/g)).toEqual(["HTTP/1.1 405"]);
      const listed = await fetch(`${url}/pets`, { headers: { authorization: `Bearer ${secret}` } });
      expect(await listed.json()).toEqual([]);
    });

    it("delivers its 413 to a client that keeps sending 10 MB in chunks", async () => {
      const { url, database } = server();
      const secret = await issueUnlimitedKey(database);
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
      const body = `${chunk.repeat(160)}0\r\n\r\n`;
      for (let count = 0; count < sized(1, 20, 100); count += 1) {
        const received = await sendUntilClosed(
          url,
          `POST /v1/pets HTTP/1.1\r\n${HOST}${bearer(secret)}Transfer-Encoding: chunked\r\n\r\n${body}`,
        );
        expect(received).toMatch(/^HTTP\/1\.1 413 /);
      }
      await expectServing(server(), "");
    });

    it("opens no inspector on SIGUSR1", async () => {
      process.kill(server().pid, "SIGUSR1");
      for (let count = 0; count < 5; count += 1) await fetch(`${origin(server().url)}/healthz`);
      await expectServing(server(), "SIGUSR1");
    });
  },
);

/** Sends half of a request. Returns a function that sends the rest, and resolves to the response. */
async function sendHalf({ url }: BuiltServer): Promise<() => Promise<string>> {
  const socket = await openSocket(url);
  let response = "";
  socket.setEncoding("latin1").on("data", (text: string) => (response += text));
  socket.write(`GET /v1/pets HTTP/1.1\r\n${HOST}X-Slow: `);
  // Until the server has the first half, a signal may come before the request.
  await fetch(`${origin(url)}/healthz`);
  return async () => {
    socket.write("done\r\n\r\n");
    await once(socket, "close");
    return response;
  };
}

describe("petstore serve", () => {
  it.each(["SIGHUP", "SIGINT"] as const)("finishes what is under way on %s", async (signal) => {
    const server = await start("--database", newDatabase());
    const finish = await sendHalf(server);
    const ended = server.end(signal);
    await expect.poll(() => server.output()).toContain(`petstore received ${signal}`);
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(0);
  });
});

describe("an error that no code caught", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-crash-"));
  const preload = join(folder, "crash.mjs");
  writeFileSync(preload, 'process.on("SIGUSR2", () => { throw new Error("a bug"); });');
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is logged with its stack, lets requests finish, and ends the process with exit code 70", async () => {
    const server = await startBuilt(
      [process.execPath, "--import", pathToFileURL(preload).href, program()],
      ...["--database", newDatabase()],
    );
    const finish = await sendHalf(server);
    const ended = server.end("SIGUSR2");
    await expect.poll(() => server.output()).toMatch(/Error: a bug\n\s+at .*crash\.mjs/);
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(70);
  });

  it.runIf(sized(0, 1, 1))("ends a worker, which is replaced", async () => {
    const server = await startBuilt(
      [process.execPath, "--import", pathToFileURL(preload).href, program()],
      ...["--workers", "2", "--database", newDatabase()],
    );
    const children = `/proc/${server.pid}/task/${server.pid}/children`;
    if (!existsSync(children)) return;
    const [worker = ""] = readFileSync(children, "utf8").trim().split(" ");
    process.kill(Number(worker), "SIGUSR2");
    await expect.poll(() => server.output()).toContain("exit code 70");
    expect((await fetch(`${origin(server.url)}/healthz`)).status).toBe(200);
    expect(await server.end("SIGTERM")).toBe(0);
  });
});
