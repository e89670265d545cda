import { setImmediate } from "node:timers/promises";
import { createPetsClient, type ClientEvent } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { clientOf, stock } from "./support/stores.js";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
};

test("calls wait until the gate opens; those that cannot wait that long get the refusal, with the seconds that are left", async () => {
  const stocked = await stock();
  const { store, clock, key } = stocked;
  // Another process uses up the minute of the key.
  for (let request = 0; request < 60; request += 1) await store.as(key).listPets();
  const events: ClientEvent[] = [];
  const client = clientOf(stocked, { onEvent: (event) => events.push(event) });
  const waits = () => events.flatMap((event) => (event.type === "waiting" ? [event.seconds] : []));
  const calls = [10, 20, 200].map((deadlineSeconds) => client.listPets({}, { deadlineSeconds }));
  for (const call of calls.slice(0, 2)) {
    expect((await call)._unsafeUnwrapErr()).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringMatching(/; come back in 6[01] seconds\.$/) as string,
    });
  }
  // They wait for the end of the first one; the last one then waits for the gate.
  expect(waits()).toEqual([0, 0]);
  clock.advance(20_000);
  expect((await client.listPets({}, { deadlineSeconds: 10 }))._unsafeUnwrapErr()).toMatchObject({
    message: expect.stringMatching(/; come back in 4[01] seconds\.$/) as string,
  });
  calls.push(client.listPets({}, { deadlineSeconds: 100 }));
  await turns();
  expect(waits()).toEqual([0, 0, expect.closeTo(40, 0)]);
  clock.advance(39_000);
  await turns();
  expect(events.filter(({ type }) => type === "request")).toHaveLength(1);
  clock.advance(2_000);
  for (const call of calls.slice(2)) expect((await call).isOk()).toBe(true);
});

test("calls behind a proxy's 429 get that response, as it was", async () => {
  const refused = () => new Response("no", { status: 429, headers: { "Retry-After": "9" } });
  const fetch = vi.fn(() => Promise.resolve(refused()));
  const client = createPetsClient({ fetch });
  const calls = [1, 2].map(() => client.listPets({}, { deadlineSeconds: 1 }));
  for (const outcome of await Promise.all(calls)) {
    const error = outcome._unsafeUnwrapErr();
    expect(error).toMatchObject({ code: "unexpected_response", status: 429 });
    expect(error).not.toHaveProperty("retryAfterSeconds");
  }
  expect(fetch).toHaveBeenCalledOnce();
});
