import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

const body = '{"name":"Rex","categoryId":1}';

test.each([
  [],
  ["Content-Type: application/json"],
  ["Content-Type: APPLICATION/JSON"],
  ["Content-Type: application/json; charset=utf-8"],
  ['Content-Type: application/json;charset="UTF-8"'],
  ["Content-Type: application/json ; profile=x; charset=Utf-8"],
  [`Content-Type: application/json; profile=${"x".repeat(200)}`],
  ["Content-Encoding: identity"],
  ["Content-Encoding:"],
  ["Content-Encoding: Identity"],
])("a body with %s is read", async (...headers) => {
  const { call } = await serve();
  expect((await call({ method: "POST", body, headers })).status).toBe(201);
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json5",
  "application/problem+json",
  "application",
  "application/json, text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  "*/*",
  `application/json;${" ".repeat(300)}charset=utf-8`,
])("Content-Type: %s is 415 and says what would do", async (type) => {
  const { call } = await serve();
  const answer = await call({ method: "POST", body, headers: [`Content-Type: ${type}`] });
  expect(answer.status).toBe(415);
  expect(answer.body).toContain('"unsupported_media_type"');
  expect(answer.headers["accept"]).toBe("application/json");
});

test("two Content-Type lines are 415", async () => {
  const { call } = await serve();
  const headers = ["Content-Type: application/json", "Content-Type: text/plain"];
  expect((await call({ method: "POST", body, headers })).status).toBe(415);
});

test.each(["gzip", "br", "identity, gzip", "x"])("Content-Encoding: %s is 415", async (coding) => {
  const { call } = await serve();
  const answer = await call({ method: "POST", body, headers: [`Content-Encoding: ${coding}`] });
  expect(answer.status).toBe(415);
  expect(answer.headers["accept-encoding"]).toBe("identity");
});

test("length is judged before media type, and both before a byte of the body arrives", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: text/plain\r\n`;
  wire.send(`${head}Content-Length: 65537\r\n\r\n`);
  expect((await wire.answer()).status).toBe(413);
});
