import { setImmediate } from "node:timers/promises";
import { createMemoryStorage, type CreationRequest, type PetStorage } from "@petstore/core";
import { ok } from "neverthrow";
import type { BrokenStorages, Change } from "./memory-fixture.js";

/** Storages that break the requirements of `PetStorage.createOnce`. */
export const brokenCreations: BrokenStorages = {
  "adds one pet for each token, even when twins arrive at once, and plain creates between them": {
    "adds a pet each time": withCreations((real) => ({
      createOnce: async (pet, request) =>
        (await real.create(pet)).map(({ id }) => ({ ...request, petId: id, isReplay: false })),
    })),
    "looks first and adds later": withCreations(inTwoSteps),
  },
  "returns the first creation for another pet under its token, and adds nothing": {
    "returns the fingerprint of the second pet": withCreations((real) => ({
      createOnce: async (pet, request) =>
        (await real.createOnce(pet, request)).map((creation) => ({
          ...creation,
          fingerprint: request.fingerprint,
        })),
    })),
    "takes another pet for another creation": withRequest((request) => ({
      ...request,
      token: request.token + request.fingerprint,
    })),
  },
  "remembers a creation until the millisecond of its expiry, and then adds another pet": {
    "forgets it a millisecond early": withRequest((request) => ({
      ...request,
      expiresAt: request.expiresAt - 1,
    })),
    "remembers it a millisecond longer": withRequest((request) => ({
      ...request,
      now: request.now - 1,
    })),
  },
  "remembers every creation that has not expired, however many others have": {
    "keeps only the newest six": withCreations((real) => {
      const newest: string[] = [];
      return {
        createOnce: (pet, request) => {
          const isKnown = newest.includes(request.token);
          if (!isKnown) newest.push(request.token);
          if (newest.length > 6) newest.shift();
          const token = isKnown ? request.token : `${request.token} ${Math.random()}`;
          return real.createOnce(pet, { ...request, token });
        },
      };
    }),
  },
  "remembers creations after it is reopened": {
    "starts with none": (storage, opened) =>
      opened === 0 ? storage : { ...storage, pets: createMemoryStorage().pets },
  },
  "adds one pet for each token when two storages on the same data create at once": {
    "remembers them in each storage": (storage, opened) =>
      withRequest((request) => ({ ...request, token: `${opened} ${request.token}` }))(
        storage,
        opened,
      ),
  },
};

function inTwoSteps(real: PetStorage): Partial<PetStorage> {
  const known = new Set<string>();
  return {
    createOnce: async (pet, request) => {
      if (known.has(request.token)) return real.createOnce(pet, request);
      await setImmediate();
      known.add(request.token);
      const created = await real.create(pet);
      if (created.isErr()) return real.createOnce(pet, request);
      const { fingerprint, expiresAt } = request;
      return ok({ petId: created.value.id, fingerprint, expiresAt, isReplay: false });
    },
  };
}

function withRequest(change: (request: CreationRequest) => CreationRequest): Change {
  return withCreations((real) => ({
    createOnce: (pet, request) => real.createOnce(pet, change(request)),
  }));
}

function withCreations(change: (pets: PetStorage) => Partial<PetStorage>): Change {
  return (storage) => ({ ...storage, pets: { ...storage.pets, ...change(storage.pets) } });
}
