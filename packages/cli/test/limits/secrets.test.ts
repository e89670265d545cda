import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { openBeside, withDatabase } from "../support/command.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { sendUntilClosed } from "../support/raw-client.js";

useBuiltPetstore();

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
  let responses = "";
  for (const [path, init] of sent) {
    const response = await fetch(url + path, init);
    responses += inspect([...response.headers]) + (await response.text());
  }
  // Node's parser refuses a header line beside the secret.
  const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n`;
  return responses + (await sendUntilClosed(url, `${head}Content-Length: 1x\r\n\r\n`));
}

it("files, logs, responses, errors and inspected objects contain no secret", async () => {
  const { database, run } = withDatabase();
  const operator = await openBeside(database);
  const { keys } = operator;
  const server = await startServer("--database", database);
  const issued = (await keys.issue({ plan: "pro", label: "acme" }))._unsafeUnwrap();
  const { id } = issued.key;
  const rotated = (await keys.rotate(id, { overlapSeconds: 3_600 }))._unsafeUnwrap();
  const secrets = [issued.secret, rotated.secret];

  const shown: string[] = [];
  for (const secret of secrets) shown.push(await use(server.url, secret));
  const caller = operator.as(rotated.secret);
  const values = [operator, keys, caller, await caller.admit(), await keys.list()];
  shown.push(inspect(values, { depth: 20, showHidden: true }), JSON.stringify(await keys.list()));
  for (const command of [["list"], ["list", "--json"], ["find", id], ["find", id, "--json"]])
    shown.push((await run("keys", ...command)).out);
  const folder = dirname(database);
  const files = () => readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"));
  shown.push(...files());

  new Database(database).exec("drop table api_key_usage").close();
  for (const secret of secrets) {
    shown.push(await use(server.url, secret));
    shown.push(inspect(await operator.as(secret).listPets(), { depth: 20, showHidden: true }));
  }
  expect(shown.join("\n")).toContain("storage_unavailable");
  await server.end();
  expect(server.output()).toMatch(/Charging an API key failed/);
  shown.push(server.output(), ...files());

  for (const secret of secrets) {
    // Its first characters are shown on purpose, for people to recognize it.
    expect(shown.join("\n")).toContain(secret.slice(0, 13));
    expect(shown.filter((text) => text.includes(secret.slice(13, 33)))).toEqual([]);
  }
});
