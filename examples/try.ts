import { createManualClock, createPetStore } from "@petstore/core";

const clock = createManualClock();
const store = createPetStore({ clock, plans: { tiny: { perMinute: 1, perDay: 10 } } });
const issued = await store.keys.issue({ plan: "tiny" });
const caller = store.as(issued.isOk() ? issued.value.secret : undefined);

const outcomes = [await caller.listPets(), await caller.listPets()];
clock.advance(60_000);
outcomes.push(await caller.listPets());
console.log(outcomes.map((outcome) => (outcome.isOk() ? "served" : outcome.error.code)).join(", "));
// served, rate_limit_exceeded, served
