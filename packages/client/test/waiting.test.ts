import { setImmediate } from "node:timers/promises";
import { createPetsClient, type ClientEvent } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { clientOf, stock } from "./support/stores.js";

/** A store whose key has used up its minute, a client that does not know it, and the seconds that its calls wait. */
async function stockUsedUp() {
  const stocked = await stock();
  for (let request = 0; request < 60; request += 1) await stocked.store.as(stocked.key).listPets();
  const events: ClientEvent[] = [];
  const client = clientOf(stocked, { onEvent: (event) => events.push(event) });
  const waits = () => events.flatMap((event) => (event.type === "waiting" ? [event.seconds] : []));
  const requests = () => events.filter(({ type }) => type === "request").length;
  return { ...stocked, client, waits, requests };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
};

test("a call waits until the gate opens, if its deadline is later; its event says for how long", async () => {
  const { client, clock, waits, requests } = await stockUsedUp();
  let outcome: unknown;
  void client.listPets({}, { deadlineSeconds: 100 }).then((result) => (outcome = result));
  await turns();
  expect(waits()).toEqual([expect.closeTo(60, 0)]);
  clock.advance(59_000);
  await turns();
  expect([outcome, requests()]).toEqual([undefined, 1]);
  clock.advance(2_000);
  await turns();
  expect(outcome).toMatchObject({ value: { pets: [] } });
});

test("calls that cannot wait that long get the refusal, with the seconds that are left; one request is sent", async () => {
  const { client, clock, requests, waits } = await stockUsedUp();
  const calls = [10, 20, 200].map((deadlineSeconds) => client.listPets({}, { deadlineSeconds }));
  for (const call of calls.slice(0, 2)) {
    expect((await call)._unsafeUnwrapErr()).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringMatching(/; come back in 6[01] seconds\.$/) as string,
    });
  }
  // They wait for the end of the first one; and the last one then waits for the gate.
  expect(waits()).toEqual([0, 0]);
  clock.advance(20_000);
  expect((await client.listPets({}, { deadlineSeconds: 10 }))._unsafeUnwrapErr()).toMatchObject({
    message: expect.stringMatching(/; come back in 4[01] seconds\.$/) as string,
  });
  expect(requests()).toBe(1);
  clock.advance(41_000);
  expect((await calls[2])?.isOk()).toBe(true);
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
