import {
  NO_USAGE,
  storageFailure,
  type PresentedKey,
  type PetStorage,
  type Usage,
  type UsageStorage,
} from "@petstore/core";
import { err } from "neverthrow";
import { inTwoCalls, type BrokenStorages, type Change } from "./memory-fixture.js";

/** Storages that break the requirements of `UsageStorage`. */
export const brokenUsage: BrokenStorages = {
  "passes to a charge the key that has the secret, the secret's expiry, and no usage at first": {
    "loses the secret's expiry": withPresentedKey((presented) => ({
      ...presented,
      secretExpiresAt: undefined,
    })),
    "shows a revocation at 0 as none": withPresentedKey((presented) => ({
      ...presented,
      key: {
        ...presented.key,
        revokedAt: presented.key.revokedAt === 0 ? undefined : presented.key.revokedAt,
      },
    })),
  },
  "finds the key that has a secret, with the usage after every charge that resolved, and stores nothing":
    {
      "caches what it has found": withUsage((real) => {
        const cached = new Map<string, ReturnType<typeof real.findByDigest>>();
        return {
          findByDigest: (digest) => {
            const found = cached.get(digest) ?? real.findByDigest(digest);
            cached.set(digest, found);
            return found;
          },
        };
      }),
      "counts a look-up as a charge": withUsage((real) => ({
        findByDigest: (digest) =>
          real.charge(digest, (presented) => ({
            next: presented && { ...presented.usage, dayUsed: presented.usage.dayUsed + 1 },
            result: presented,
          })),
      })),
    },
  "passes undefined to the charge of a secret that no key has, and stores nothing": {
    "charges another key": withUsage((real) => ({
      charge: (digest, decide) =>
        inTwoCalls(
          real.charge(digest, (presented) => ({ result: { ...decide(presented), presented } })),
          ({ next, result, presented }) =>
            real.update("a", () => ({ next: presented ? undefined : next, result })),
        ),
    })),
  },
  "passes undefined to the update of a missing key's usage, and stores nothing": {
    "shows no usage": withUsage((real) => ({
      update: (keyId, decide) => real.update(keyId, (usage) => decide(usage ?? NO_USAGE)),
    })),
  },
  "keeps every field of a usage exact, up to 2^53-1, in charge, update, find and list": {
    "counts in 32 bits": withStored((usage) => ({ ...usage, minuteUsed: usage.minuteUsed | 0 })),
    "loses the start of the ban": withStored((usage) => ({ ...usage, bannedAt: 0 })),
  },
  "counts every one of many concurrent charges, each for its own key": {
    "reads and writes in two calls": withUsage((real) => ({
      charge: (digest, decide) =>
        inTwoCalls(
          real.charge(digest, (presented) => ({ result: presented })),
          (presented) => real.charge(digest, () => decide(presented)),
        ),
    })),
  },
  "counts concurrent charges of one key together, whichever of its secrets they use": {
    "counts each secret separately": countingByDigest,
  },
  "leaves the usage unchanged when the decision returns no next, or the usage that was passed to it":
    {
      "resets the usage when there is no next": withUsage((real) => ({
        charge: (digest, decide) =>
          real.charge(digest, (presented) => {
            const { next = NO_USAGE, result } = decide(presented);
            return { next, result };
          }),
      })),
    },
  "lets the decision of a charge find and list pets that were created before": {
    "refuses to read during a charge": withListInCharge(
      () => () => Promise.resolve(err(storageFailure("busy"))),
    ),
    "reads what it has read in an earlier charge": withListInCharge((list) => {
      let page: ReturnType<typeof list> | undefined;
      return (query) => (page ??= list(query));
    }),
  },
  "fails only the charge whose decision throws, and stores nothing of it": {
    "writes before it decides": withUsage((real) => ({
      charge: (digest, decide) =>
        inTwoCalls(
          real.charge(digest, (presented) => ({
            next: presented && { ...presented.usage, refusals: 1 },
            result: presented,
          })),
          (presented) => real.charge(digest, () => decide(presented)),
        ),
    })),
    throws: withUsage((real) => ({
      update: (keyId, decide) => {
        decide(NO_USAGE);
        return real.update(keyId, decide);
      },
    })),
  },
};

/** Keeps a count for each digest, in this one storage. */
export function countingByDigest(...[storage]: Parameters<Change>): ReturnType<Change> {
  const counts = new Map<string, Usage>();
  return withUsage((real) => ({
    charge: (digest, decide) =>
      real.charge(digest, (presented) => {
        const usage = counts.get(digest) ?? NO_USAGE;
        const step = decide(presented && { ...presented, usage });
        if (step.next) counts.set(digest, step.next);
        return step;
      }),
  }))(storage, 0);
}

/** Changes how pets are listed while a charge decides. */
function withListInCharge(change: (list: PetStorage["list"]) => PetStorage["list"]): Change {
  return (storage) => {
    const { pets } = storage;
    const listInCharge = change((query) => pets.list(query));
    let isDeciding = false;
    const { usage } = withUsage((real) => ({
      charge: (digest, decide) =>
        real.charge(digest, (presented) => {
          isDeciding = true;
          const step = decide(presented);
          isDeciding = false;
          return step;
        }),
    }))(storage, 0);
    const list: PetStorage["list"] = (query) =>
      isDeciding ? listInCharge(query) : pets.list(query);
    return { ...storage, usage, pets: { ...pets, list } };
  };
}

function withPresentedKey(change: (presented: PresentedKey) => PresentedKey): Change {
  return withUsage((real) => ({
    charge: (digest, decide) =>
      real.charge(digest, (presented) => decide(presented && change(presented))),
  }));
}

function withStored(change: (usage: Usage) => Usage): Change {
  return withUsage((real) => ({
    charge: (digest, decide) =>
      real.charge(digest, (presented) => {
        const { next, result } = decide(presented);
        return { next: next && change(next), result };
      }),
  }));
}

function withUsage(change: (usage: UsageStorage) => Partial<UsageStorage>): Change {
  return (storage) => ({ ...storage, usage: { ...storage.usage, ...change(storage.usage) } });
}
