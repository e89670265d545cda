import fc from "fast-check";
import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");
const targetText = fc.stringMatching(/^[!-~]{0,20}$/);
const query = fc.oneof(
  fc.constant(""),
  targetText.map((text) => `?${text}`),
  fc
    .array(fc.tuple(fc.constantFrom("limit", "status", "after", "x"), targetText), { maxLength: 4 })
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`),
);
const path = fc.tuple(
  fc.constantFrom("/v1/", "/v1/pets", "/v1/pets/", "/v1/pets/1", "http://a/v1/pets"),
  fc.oneof(fc.constant(""), targetText),
  query,
);
const headerText = fc.stringMatching(/^[ -~\x80-\xff]{0,30}$/);
const headers = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        "Content-Type",
        "Content-Encoding",
        "Authorization",
        "Expect",
        "Host",
        "Accept",
      ),
      headerText,
    ),
    fc.tuple(fc.stringMatching(/^X-[A-Za-z]{1,10}$/), headerText),
  ),
  { maxLength: 4 },
);
const body = fc.oneof(
  fc.constant(undefined),
  fc.json().filter((text) => text !== ""),
  fc.uint8Array({ maxLength: 200 }),
  fc
    .record({ name: fc.json(), categoryId: fc.bigInt(), status: fc.json() }, { requiredKeys: [] })
    .map(
      (pet) =>
        `{${Object.entries(pet)
          .map(([key, value]) => `"${key}":${value}`)
          .join(",")}}`,
    ),
);

test("whatever is asked below the base path: never 5xx, always the headers, an Error body on 4xx", async () => {
  const { call, key, clock } = await serve();
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      headers,
      body,
      fc.boolean(),
      async (verb, parts, lines, sent, known) => {
        clock.advance(60_000);
        const answer = await call({
          method: verb,
          path: parts.join(""),
          headers: lines.map(([name, value]) => `${name}: ${value}`),
          key: known ? key : null,
          ...(sent === undefined ? {} : { body: sent }),
        });
        expect(answer.status === 100 || (answer.status >= 200 && answer.status < 500)).toBe(true);
        if (answer.status === 100) return;
        expect(answer.headers).toHaveProperty("x-ratelimit-limit");
        expect(answer.headers).toHaveProperty("x-ratelimit-remaining");
        expect(answer.headers).toHaveProperty("x-ratelimit-reset");
        if (answer.status < 400 || verb === "HEAD") return;
        expect(JSON.parse(answer.body)).toMatchObject({ status: answer.status });
      },
    ),
    { numRuns: 2_000 },
  );
});
