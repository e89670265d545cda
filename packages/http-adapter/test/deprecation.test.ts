import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { serve, type Call } from "./support/serve.js";

const DEPRECATION = {
  deprecation: "@1764892800",
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  link: '<../pets>; rel="successor-version"',
};

test("getPet announces its end with every status", async () => {
  const { call, create, store } = await serve();
  await create(PET);
  const path = "/v1/pets/1";
  const expectDeprecated = async (status: number, sent: Call): Promise<void> =>
    expect(await call({ path, ...sent })).toMatchObject({ status, headers: DEPRECATION });
  await expectDeprecated(200, {});
  await expectDeprecated(200, { method: "HEAD" });
  await expectDeprecated(401, { key: null });
  await expectDeprecated(404, { path: "/v1/pets/x" });
  for (let count = 0; count < 60; count += 1) await call();
  await expectDeprecated(429, {});
  await store.close();
  await expectDeprecated(503, {});
});

test("nothing else is deprecated", async () => {
  const { call } = await serve();
  for (const sent of [{}, { method: "PUT", path: "/v1/pets/1" }, { path: "/v1/x" }]) {
    const { headers } = await call(sent);
    expect(headers).not.toHaveProperty("deprecation");
    expect(headers).not.toHaveProperty("sunset");
  }
});
