import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

const body = '{"name":"Rex","categoryId":1}';

test.each(["/v1/pets", "/v1/pets?limit=1", "http://pets.test/v1/pets"])(
  "a pet added at %s is found at its Location",
  async (path) => {
    const { call } = await serve();
    const created = await call({ method: "POST", path, body });
    expect(created.status).toBe(201);
    expect(created.headers["location"]).toBe("/v1/pets/1");
    expect((await call({ path: "/v1/pets/1" })).body).toBe(created.body);
  },
);
