import { expect } from "vitest";
import { dial, type Answer } from "../wire.js";
import type { ConformanceCase, Expected } from "./case.js";

/** Sends a case to a server and checks what comes back. */
export async function runCase(
  { request, answers, closes = false, ends = false }: ConformanceCase,
  port: number,
  key: string,
): Promise<void> {
  const wire = await dial(port);
  const bytes = Buffer.from(request.replaceAll("{key}", key), "latin1");
  wire.send(bytes);
  if (ends) wire.socket.end();
  for (const expected of answers) check(await wire.answer(methodOf(request)), expected);
  if (closes) expect(await wire.rest()).toBe("");
  wire.socket.destroy();
}

function methodOf(request: string): string {
  return request.startsWith("HEAD ") ? "HEAD" : "GET";
}

/** What every answer carries (specification, "Rate limit headers"), and what this one must. */
function check(answer: Answer, { status, code, headers = {}, body }: Expected): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
  if (status === 100) return;
  for (const name of ["limit", "remaining", "reset"]) {
    expect(answer.headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  }
  expect(answer.headers["content-type"]).toBe("application/json");
  for (const [name, value] of Object.entries(headers)) {
    expect(answer.headers[name], name).toEqual(expect.stringMatching(exactly(value)));
  }
  if (body !== undefined) expect(answer.body).toMatch(exactly(body));
  if (code === undefined) return;
  expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.body)));
  const error = JSON.parse(answer.body) as Record<string, unknown>;
  expect(error).toEqual({ code, message: expect.stringMatching(/./) as unknown, status });
}

function exactly(value: string | RegExp): RegExp {
  if (value instanceof RegExp) return value;
  return new RegExp(`^${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}
