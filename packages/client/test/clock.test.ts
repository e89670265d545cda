import { createPetsClient } from "@petstore/client";
import { afterEach, expect, test, vi } from "vitest";
import { ANY, clientOf, stock } from "./support/stores.js";

afterEach(() => vi.restoreAllMocks());

/** The machine's clocks: each reading takes half a millisecond, which the wall clock rounds off. */
function setMachineClocks() {
  const start = Date.UTC(2030, 0, 1);
  let [monotonic, ahead] = [0, start];
  vi.spyOn(performance, "now").mockImplementation(() => (monotonic += 0.5));
  vi.spyOn(Date, "now").mockImplementation(() => Math.floor(ahead + monotonic));
  return {
    monotonic: () => monotonic,
    /** Moves the wall clock only, as a machine's sleep or its administrator does. */
    moveWall: (milliseconds: number) => void (ahead += milliseconds),
    /** A response after which nothing is left for this many seconds. */
    usedUp: (seconds: number) => {
      const headers = { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0" };
      const reset = String(start / 1_000 + seconds);
      return new Response("[]", {
        headers: { ...headers, "X-RateLimit-Reset": reset, Date: new Date(start).toUTCString() },
      });
    },
  };
}

test.each([
  ["goes on while the machine sleeps", 3_000, 2],
  ["stands still when the wall clock is set back", -3_600_000, 1],
])("the gate's clock %s", async (_, milliseconds, requests) => {
  const machine = setMachineClocks();
  const fetch = vi.fn(() => Promise.resolve(machine.usedUp(3)));
  const client = createPetsClient({ ...ANY, fetch });
  await client.listPets({}, { deadlineSeconds: 1 });
  machine.moveWall(milliseconds);
  await client.listPets({}, { deadlineSeconds: 1 });
  expect(fetch).toHaveBeenCalledTimes(requests);
});

test("the gate's clock is not fast, however often it is read", async () => {
  const machine = setMachineClocks();
  const sent: number[] = [];
  const fetch = () => {
    sent.push(machine.monotonic());
    return Promise.resolve(machine.usedUp(2));
  };
  const client = createPetsClient({ ...ANY, fetch });
  while (sent.length < 2) await client.listPets({}, { deadlineSeconds: 0 });
  const [first = 0, second = 0] = sent;
  expect(second - first).toBeGreaterThan(1_990);
});

test("a day of questions about a used-up limit does not ban a key of three requests a minute", async () => {
  const stocked = await stock({ plans: { small: { perMinute: 3, perDay: 3 } } });
  const issued = (await stocked.store.keys.issue({ plan: "small" }))._unsafeUnwrap();
  const client = clientOf({ ...stocked, key: issued.secret });
  const codes = new Set<string>();
  for (let hour = 0; hour < 24; hour += 0.5) {
    const listed = await client.listPets({}, { deadlineSeconds: 0.001 });
    if (listed.isErr()) codes.add(listed.error.code);
    stocked.clock.advance(1_800_000);
  }
  expect([...codes]).toEqual(["rate_limit_exceeded"]);
});
