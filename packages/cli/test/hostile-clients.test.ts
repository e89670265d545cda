import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import {
  startBuilt,
  startServer,
  useBuiltPetstore,
  useServer,
  workersOf,
  type BuiltServer,
} from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petstore } from "./support/command.js";
import { sized } from "../../../scripts/test-size.js";
import { madeUpKey } from "../../storage-sqlite/test/limits/made-up-key.js";
import { openSocket, sendAndReset, sendUntilClosed } from "./support/raw-client.js";

const program = useBuiltPetstore();
const HOST = "Host: pets.test\r\n";

const bearer = (secret: string): string => `Authorization: Bearer ${secret}\r\n`;

const healthOf = ({ url }: BuiltServer): Promise<number> =>
  fetch(new URL("/healthz", url)).then(({ status }) => status);

/** Expects that the server serves, and has printed no error, after it received this. */
async function expectServing(server: BuiltServer, received: string): Promise<void> {
  expect(await healthOf(server).catch(String), received).toBe(200);
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

/** First messages whose responses are the last ones of their connection, and the request line of the next message. */
const CLOSING: readonly [name: string, first: string, second: string][] = [
  ["an expectation", `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: 100-continue\r\n`, "GET /v1/pets"],
  ["a wrong method for the docs", `DELETE /docs HTTP/1.1\r\n${HOST}`, "POST /v1/pets"],
  ["the docs, then a health check", `DELETE /docs HTTP/1.1\r\n${HOST}`, "GET /readyz"],
  ["two Hosts", `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}`, "POST /v1/pets"],
  ["an old version", "GET /healthz HTTP/1.0\r\n", "POST /v1/pets"],
];

/** One segment of three messages: the second has a body, the third a made-up key. */
const segmentOf = (first: string, second: string): string =>
  `${first}\r\n${second} HTTP/1.1\r\n${HOST}Content-Length: 27\r\n\r\n${"x".repeat(27)}` +
  `GET /v1/pets HTTP/1.1\r\n${HOST}${bearer(madeUpKey(0))}\r\n`;

describe.each([1, 2].slice(0, sized(1, 2, 2)))("petstore serve --workers %s", (count) => {
  const server = useServer("--workers", String(count));

  it("survives bad messages and a reset, and several messages in one segment, of which the first gets a response", async () => {
    const { url } = server();
    for (const [name, bytes] of RESET) {
      for (let count = 0; count < sized(2, 30, 100); count += 1) await sendAndReset(url, bytes);
      await expectServing(server(), name);
    }
    for (const [name, first, second] of CLOSING) {
      for (let count = 0; count < sized(1, 8, 40); count += 1) {
        const received = await sendUntilClosed(url, segmentOf(first, second));
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
    const create = `POST /v1/pets HTTP/1.1\r\n${HOST}${bearer(secret)}Content-Length: ${pet.length}`;
    const segment = `DELETE /docs HTTP/1.1\r\n${HOST}\r\n${create}\r\n\r\n${pet}`;
    const received = await sendUntilClosed(url, segment);
    expect(received.match(/HTTP\/1\.1 \d\d\d/g)).toEqual(["HTTP/1.1 405"]);
    expect((await petstore("pets", "export", "--database", database)).out).toBe("");
  });

  it("delivers its 413 to a client that keeps sending 10 MB in chunks", async () => {
    const { url, database } = server();
    const head = `POST /v1/pets HTTP/1.1\r\n${HOST}${bearer(await issueUnlimitedKey(database))}`;
    const body = `${`10000\r\n${"x".repeat(65_536)}\r\n`.repeat(160)}0\r\n\r\n`;
    for (let count = 0; count < sized(1, 20, 100); count += 1) {
      const bytes = `${head}Transfer-Encoding: chunked\r\n\r\n${body}`;
      expect(await sendUntilClosed(url, bytes)).toMatch(/^HTTP\/1\.1 413 /);
    }
    await expectServing(server(), "");
  });

  it("opens no inspector on SIGUSR1", async () => {
    process.kill(server().pid, "SIGUSR1");
    for (let count = 0; count < 5; count += 1) await healthOf(server());
    await expectServing(server(), "SIGUSR1");
  });
});

/** Sends half of a request. Returns a function that sends the rest, and resolves to the response. */
async function sendHalf(server: BuiltServer): Promise<() => Promise<string>> {
  const socket = await openSocket(server.url);
  socket.setEncoding("latin1").write(`GET /v1/pets HTTP/1.1\r\n${HOST}X-Slow: `);
  // Until the server has the first half, a signal may come before the request.
  await healthOf(server);
  return () => {
    socket.write("done\r\n\r\n");
    return text(socket);
  };
}

/** A server that has a bug when it receives SIGUSR2. */
const startCrashing = (...args: readonly string[]): Promise<BuiltServer> => {
  const crash = 'process.on("SIGUSR2", () => { throw new Error("a bug"); });';
  const command = [process.execPath, "--import", `data:text/javascript,${crash}`, program()];
  return startBuilt(command, "--database", ":memory:", ...args);
};

describe("petstore serve", () => {
  it("finishes what is under way on SIGHUP", async () => {
    const server = await startServer("--database", ":memory:");
    const finish = await sendHalf(server);
    const ended = server.end("SIGHUP");
    await expect.poll(() => server.output()).toContain("petstore received SIGHUP");
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(0);
  });

  it("logs an error that no code caught with its stack, lets requests finish, and ends with exit code 70", async () => {
    const server = await startCrashing();
    const finish = await sendHalf(server);
    const ended = server.end("SIGUSR2");
    await expect.poll(() => server.output()).toMatch(/Error: a bug\n\s+at .*javascript/);
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(70);
  });

  it.runIf(sized(0, 1, 1))("replaces a worker that such an error ends", async () => {
    const server = await startCrashing("--workers", "2", "--database", newDatabase());
    const [worker = -1] = workersOf(server);
    process.kill(worker, "SIGUSR2");
    await expect.poll(() => server.output()).toContain("exit code 70");
    expect(await healthOf(server)).toBe(200);
    expect(await server.end("SIGTERM")).toBe(0);
  });
});
