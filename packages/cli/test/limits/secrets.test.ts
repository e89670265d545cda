import { readFileSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { newDatabase, petstore } from "../support/command.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { openBeside } from "../support/in-process.js";

useBuiltPetstore();

/** Sends valid and invalid requests with this secret. Resolves to the text of all responses. */
async function use(url: string, secret: string): Promise<string> {
  const bearer = { authorization: `Bearer ${secret}` };
  const sent: [string, RequestInit][] = [
    ["/pets", { headers: bearer }],
    ["/pets", { headers: { authorization: `Basic ${secret}` } }],
    ["/pets", { headers: { authorization: `Bearer ${secret}x` } }],
    [`/pets/${secret}`, { headers: bearer }],
    [`/pets?limit=${secret}`, { headers: bearer }],
    ["/pets", { method: "POST", headers: bearer, body: `{"name": ${secret}}` }],
    ["/pets", { method: "POST", headers: bearer, body: JSON.stringify({ name: 5, [secret]: 1 }) }],
    ["/pets", { method: "DELETE", headers: bearer }],
    [`/${secret}`, { headers: bearer }],
  ];
  const responses = [];
  for (const [path, init] of sent) {
    const response = await fetch(url + path, init);
    responses.push(inspect([...response.headers]), await response.text());
  }
  return responses.join("\n");
}

/** A request with a header line that Node's parser refuses, the secret beside it. */
function sendBroken(url: string, secret: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${secret}`, "content-length": "1x" };
    const sent = request(`${url}/pets`, { method: "POST", headers });
    sent
      .on("error", () => resolve())
      .on("response", (response) => {
        response.resume().on("end", resolve);
      });
    sent.end();
  });
}

it("files, logs, responses, errors and inspected objects contain no secret", async () => {
  const database = newDatabase();
  const operator = await openBeside(database);
  const server = await startServer("--database", database);
  const issued = (await operator.keys.issue({ plan: "pro", label: "acme" }))._unsafeUnwrap();
  const rotated = (
    await operator.keys.rotate(issued.key.id, { overlapSeconds: 3_600 })
  )._unsafeUnwrap();
  const secrets = [issued.secret, rotated.secret];

  const shown: string[] = [];
  for (const secret of secrets) {
    shown.push(await use(server.url, secret));
    await sendBroken(server.url, secret);
  }
  const caller = operator.as(rotated.secret);
  const { keys } = operator;
  const values = [operator, keys, caller, await caller.admit(), await keys.list()];
  shown.push(inspect(values, { depth: 20, showHidden: true }), JSON.stringify(await keys.list()));
  for (const command of ["list", "show"]) {
    const id = command === "show" ? [issued.key.id] : [];
    for (const form of [[], ["--json"]]) {
      shown.push((await petstore("keys", command, ...id, "--database", database, ...form)).out);
    }
  }
  shown.push(...readAll(dirname(database)));

  // Failures that the storage reports are logged with their causes.
  breakStorage(database);
  for (const secret of secrets) {
    shown.push(await use(server.url, secret));
    shown.push(inspect(await operator.as(secret).listPets(), { depth: 20, showHidden: true }));
  }
  expect(shown.join("\n")).toContain("storage_unavailable");
  await server.end();
  expect(server.output()).toMatch(/Charging an API key failed/);
  shown.push(server.output(), ...readAll(dirname(database)));

  for (const secret of secrets) {
    // Its first characters are shown on purpose, for people to recognize it.
    expect(shown.join("\n")).toContain(secret.slice(0, 13));
    expect(shown.filter((text) => text.includes(secret.slice(13, 33)))).toEqual([]);
  }
});

function readAll(folder: string): readonly string[] {
  return readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"));
}

/** Drops a table that every request needs. */
function breakStorage(database: string): void {
  const connection = new Database(database);
  connection.exec("drop table api_key_usage");
  connection.close();
}
