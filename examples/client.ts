import { createManualClock, createPetsClient } from "@petstore/client";
import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";

// The test double of the service is the service: no network, no file, and no waiting.
const clock = createManualClock();
const store = createPetStore({ clock, plans: { tiny: { perMinute: 2, perDay: 10 } } });
const issued = await store.keys.issue({ plan: "tiny" });
const apiKey = issued.isOk() ? issued.value.secret : "";
const baseUrl = "http://pets.test/v1";
const pets = createPetsClient({ baseUrl, apiKey, fetch: createFetchHandler(store), clock });

const created = await pets.createPet({ name: "Rex", categoryId: 9_007_199_254_740_993n });
created.map(({ pet }) => console.log(`${pet.name} is in category ${pet.categoryId}.`));
const outcomes = [await pets.listPets(), await pets.listPets({}, { deadlineSeconds: 30 })];
const waiting = pets.listPets({}, { deadlineSeconds: 90 });
clock.advance(60_000);
outcomes.push(await waiting);
console.log(outcomes.map((outcome) => (outcome.isOk() ? "served" : outcome.error.code)).join(", "));
// Rex is in category 9007199254740993.
// served, rate_limit_exceeded, served
