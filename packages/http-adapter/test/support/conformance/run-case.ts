import { expect } from "vitest";
import { dial, type Wire, type WireResponse } from "../wire.js";
import type { ConformanceCase, Expected } from "./case.js";

export async function sendCase(row: ConformanceCase, port: number, key: string): Promise<Wire> {
  const wire = await dial(port);
  wire.send(Buffer.from(row.request.replaceAll("{key}", key), "latin1"));
  if (row.ends === true) wire.socket.end();
  return wire;
}

export async function runCase(row: ConformanceCase, port: number, key: string): Promise<void> {
  const wire = await sendCase(row, port, key);
  const method = row.request.startsWith("HEAD ") ? "HEAD" : "GET";
  for (const expected of row.responses) expectResponse(await wire.response(method), expected);
  if (row.closes === true) expect(await wire.rest()).toBe("");
  wire.socket.destroy();
}

const ALWAYS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-ratelimit-limit": expect.stringMatching(/^\d+$/) as unknown,
  "x-ratelimit-remaining": expect.stringMatching(/^\d+$/) as unknown,
  "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/) as unknown,
};

/** Checks the headers of every response (docs/http.md, "Response headers"; specification, "Rate limit headers") and the expectations of this one. */
export function expectResponse(
  response: WireResponse,
  { status, code, headers = {}, body }: Expected,
): void {
  expect({ status: response.status, body: response.body }).toMatchObject({ status });
  if (status === 100) return;
  expect(response.headers).toMatchObject(ALWAYS);
  expect(response.headers).not.toHaveProperty("x-powered-by");
  expect(response.headers).not.toHaveProperty("transfer-encoding");
  for (const [name, value] of Object.entries(headers))
    expect(response.headers[name], name).toEqual(expect.stringMatching(exactly(value)));
  if (body !== undefined) expect(response.body).toMatch(exactly(body));
  if (code === undefined) return;
  expect(response.headers["content-length"]).toBe(String(Buffer.byteLength(response.body)));
  const error = JSON.parse(response.body) as Record<string, unknown>;
  expect(error).toEqual({ code, message: expect.stringMatching(/./) as unknown, status });
}

function exactly(value: string | RegExp): RegExp {
  if (value instanceof RegExp) return value;
  return new RegExp(`^${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}
