// Each requirement is broken by a storage with one fault, so that none of them checks nothing.
import { AssertionError } from "node:assert";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createMemoryStorage, type Pet, type PetPage } from "@petstore/core";
import { NO_USAGE, storageError, type Usage } from "@petstore/core/storage";
import type { CreationRequest, Decide, NewPet, PetQuery, PetStorage } from "@petstore/core/storage";
import type { PresentedKey, Storage, StorageError, StoredApiKey } from "@petstore/core/storage";
import { checkRequirement, storageContract, storageRequirements } from "@petstore/storage-contract";
import { err, ok, type Result } from "neverthrow";
import { describe, expect, inject, it, vi } from "vitest";
import { inCi } from "../../../scripts/test-size.js";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { openStorage, type FileOptions } from "./support/file-storage.js";
import type { StorageRequirement } from "../src/requirement.js";
import { closingRequirements } from "../src/requirements/lifecycle.js";

/** Breaks a storage in memory. `opened` is how many were opened on the same data before. */
type Fault = (storage: Storage, opened: number) => Storage;
const [pets, keys, usage] = [replaceIn("pets"), replaceIn("keys"), replaceIn("usage")];
const startingEmpty: Fault = (storage, opened) => (opened === 0 ? storage : createMemoryStorage());
const emptyAtLast: Fault = (storage, opened) => (opened === 2 ? createMemoryStorage() : storage);
const FILE_STORAGE = "packages/storage-contract/test/support/file-storage.ts";
const bundled = useBundled("file-storage", [FILE_STORAGE]);
type AnyFault = FileOptions["fault"] | Fault;

/** As `faults`, for requirements on several processes: the fault of a storage in a file, in all of them. */
const faultsOfProcesses: Readonly<Record<string, AnyFault>> = {
  "counts the charges and updates of one key's usage: no transactions": "no transactions",
  "passes to each update of an API key in several: no transactions": "no transactions",
  "adds one pet for each token, and: no transactions": "no transactions",
  "shows every removal and import: no transactions": "no transactions",
  "finds an API key by a digest while: locks": usage("findByDigest", (_, { usage }) => {
    return (digest) => usage.charge(digest, (key) => ({ result: key }));
  }),
  "keeps what was stored by a process: writes when it closes": "late writes",
};

/** "The beginning of a requirement: what a storage does instead." */
const faults: Readonly<Record<string, Fault>> = {
  "gives each pet its own positive id: gives two the same": withIds((id) => (id + 1n) / 2n),
  "gives a pet a greater id: counts downwards": withIds((id) => 1_000n - id),
  ...losingInEachWay({
    "converts categoryId to a double": ({ categoryId }) => {
      return { categoryId: BigInt.asIntN(64, BigInt(Number(categoryId))) };
    },
    "normalizes Unicode": ({ name }) => ({ name: name.normalize("NFC") }),
    "loses the status": () => ({ status: "available" }),
  }),
  "returns undefined for an id: cuts ids to 32 bits": pets("find", (find) => (id) => {
    return find(BigInt.asUintN(32, id));
  }),
  "lists exactly the pets: lists the newest first": withPage(({ pets, next }) => {
    return { pets: pets.toReversed(), next };
  }),
  "lists exactly the pets: filters after it has cut the page": pets("list", (list) => {
    return async ({ status, ...query }) => {
      const page = (await list({ ...query, status: undefined }))._unsafeUnwrap();
      const pets = page.pets.filter((pet) => pet.status === (status ?? pet.status));
      return ok({ ...page, pets });
    };
  }),
  "lists exactly the pets: sets next on every full page": withPage(({ pets }, { limit }) => {
    return { pets, next: pets.length === limit ? pets.at(-1)?.id : undefined };
  }),
  "ends a page before its JSON: counts pets only": pets("list", (list) => async (query) => {
    const pets: Pet[] = [];
    let after = query.after;
    do {
      const page: PetPage = (await list({ ...query, after }))._unsafeUnwrap();
      pets.push(...page.pets);
      after = page.next;
    } while (after !== undefined && pets.length < query.limit);
    return ok({ pets: pets.slice(0, query.limit), next: after });
  }),
  "lists the pets after any int64: includes the id itself": pets("list", (list) => {
    return (query) => list({ ...query, after: query.after && query.after - 1n });
  }),

  "adds one pet for each token, even: looks first": pets("createOnce", (createOnce, { pets }) => {
    const known = new Set<string>();
    return async (pet, request) => {
      const token = known.has(request.token) ? request.token : `new ${Math.random()}`;
      await pets.find(1n);
      known.add(request.token);
      return createOnce(pet, { ...request, token });
    };
  }),
  "keeps every field of a pet: a creation is never found": hidingCreations((hidden) => {
    return pets("find", (find) => async (id) => (hidden.has(id) ? ok(undefined) : find(id)));
  }),
  "finds and lists a pet: a creation is never listed by status": hidingCreations((hidden) => {
    return withPage(({ pets, next }, { status }) => {
      return { pets: pets.filter(({ id }) => status === undefined || !hidden.has(id)), next };
    });
  }),
  "finds and lists a pet: only an import renews pages": withStalePages,
  "gives a pet a greater id: undercuts creations": pets("createOnce", (createOnce) => {
    return async (pet, request) =>
      (await createOnce(pet, request)).map((made) => ({ ...made, petId: made.petId + 9n }));
  }),
  "returns the first creation: adds the second pet": withRequest(({ token, fingerprint }) => {
    return { token: token + fingerprint };
  }),
  "remembers a creation until: forgets it early": withRequest(({ now }) => ({ now: now + 1 })),
  "remembers a creation until: forgets it late": withRequest(({ now }) => ({ now: now - 1 })),
  "remembers every creation: forgets all in time": withRequest(({ token, now }) => {
    return { token: `${token} ${now}` };
  }),
  "remembers creations after it is reopened: starts empty": startingEmpty,
  "adds one pet for each token when: keeps them to itself": (storage, opened) =>
    withRequest(({ token }) => ({ token: `${token} ${opened}` }))(storage, opened),

  "keeps every field of an API key: loses an empty label": keys("insert", (insert) => (key) => {
    return insert({ ...key, label: key.label === "" ? undefined : key.label });
  }),
  "adds an API key without usage: with a ban": keys("insert", (insert, { usage }) => (key) => {
    const next = { ...NO_USAGE, bans: 1 };
    return inTwoCalls(insert(key), () => usage.update(key.id, () => ({ next, result: undefined })));
  }),
  "imports the pets: gives new ids": pets("import", (_, { pets }) => async (moved) => {
    for (const pet of moved) await pets.create(pet);
    return ok({ added: moved.length });
  }),
  "imports exactly: forgets the usage": keys("import", (imported) => (moved) => {
    return imported(moved.map(({ key }) => ({ key, usage: NO_USAGE })));
  }),
  "imports exactly: counts all": keys("import", (imported) => async (moved) => {
    return (await imported(moved)).map(() => moved.length);
  }),
  "imports all API keys or: one after the other": keys("import", oneByOne),
  "lists API keys: compares by locale": keys("list", (list) => async (query) => {
    const all = (await list({ ...query, limit: 100, after: undefined }))._unsafeUnwrap();
    const inOrder = all.toSorted((one, other) => one.key.id.localeCompare(other.key.id));
    const first = inOrder.findIndex(({ key }) => key.id === query.after) + 1;
    return ok(inOrder.slice(first, first + query.limit));
  }),
  "lists exactly the API keys: filters after it has cut the page": keys("list", (list) => {
    return async (query) => {
      const page = (await list({ ...query, banned: false }))._unsafeUnwrap();
      return ok(page.filter(({ usage }) => !query.banned || usage.bans > 0));
    };
  }),
  "stores the API key: resets the usage": keys("update", (update, { usage }) => {
    return (id, decide) =>
      inTwoCalls(update(id, decide), (result) => {
        return usage.update(id, () => ({ next: NO_USAGE, result }));
      });
  }),
  "stores the API key: keeps the old expiry": keys("update", (update) => (id, decide) => {
    return update(id, (shown) => {
      const { next, result } = decide(shown);
      return { next: next && { ...next, expiresAt: shown?.expiresAt }, result };
    });
  }),
  "passes undefined to the update of a missing API key: adds": keys(
    "update",
    (update, { keys }) => {
      return async (id, decide) => {
        const { next, result } = decide(undefined);
        return next ? (await keys.insert(next)).map(() => result) : update(id, decide);
      };
    },
  ),
  "leaves an API key unchanged: changes every key": keys("update", (update) => (id, decide) => {
    return update(id, (shown) => ({ ...decide(shown), next: relabeling(shown).next }));
  }),
  "passes to each of many concurrent updates: reads first": keys("update", readingFirst),
  "fails only the update: writes before it decides": keys("update", (update) => (id, decide) => {
    return inTwoCalls(update(id, relabeling), () => update(id, decide));
  }),
  "removes exactly: it is lost when it is opened again": emptyAtLast,
  "removes exactly: another storage shows other data": startingEmpty,
  "removes exactly: counts the ids": keys("remove", (remove) => async (ids) => {
    return (await remove(ids)).map(() => ids.length);
  }),
  "removes all of the given API keys at once: one after the other": keys("remove", oneByOne),
  "finds an API key by its current secrets: caches keys": cachingKeys,

  "passes to a charge the key: loses the secret's expiry": showing((key) => {
    return key && { ...key, secretExpiresAt: undefined };
  }),
  "passes to a charge the key: the first plan and limits": (storage, opened) => {
    const known = new Map<string, PresentedKey["key"]>();
    return showing((shown) => {
      if (!shown) return undefined;
      const { plan, limits } = known.get(shown.key.id) ?? shown.key;
      known.set(shown.key.id, { ...shown.key, plan, limits });
      return { ...shown, key: { ...shown.key, plan, limits } };
    })(storage, opened);
  },
  "finds the key that has a secret: counts a look-up": usage("findByDigest", (_, { usage }) => {
    return (digest) => usage.charge(digest, countingOne);
  }),
  "passes undefined to the charge: charges another key": usage("charge", (charge) => {
    return (digest, decide) =>
      inTwoCalls(charge("digest of a", decide), () => charge(digest, decide));
  }),
  "passes undefined to the update of a missing key's usage: shows none": usage(
    "update",
    (update) => (id, decide) => update(id, (usage = NO_USAGE) => decide(usage)),
  ),
  "keeps every field of a usage: counts in 32 bits": storing((next) => {
    return next && { ...next, minuteUsed: next.minuteUsed | 0 };
  }),
  "counts every one: reads first": usage("charge", readingFirst),
  "counts concurrent charges of one key together, which: each secret": countingByDigest,
  "leaves the usage unchanged: resets it": storing((next = NO_USAGE) => next),
  "lets the decision of a charge find and list pets: caches a page": cachingAPage,
  "fails only the charge: writes before it decides": usage("charge", (charge) => {
    return (digest, decide) =>
      inTwoCalls(charge(digest, countingOne), () => charge(digest, decide));
  }),

  "fails every call after close: stays open": (storage) => {
    return { ...storage, close: () => Promise.resolve(ok()) };
  },
  "can be closed twice: fails the second time": (storage) => {
    let closes = 0;
    const refused = Promise.resolve(err(storageError("closed")));
    return { ...storage, close: () => (closes++ === 0 ? storage.close() : refused) };
  },
  "completes the calls of every member: drops removals": keys("remove", (remove) => {
    return (ids) => setImmediate().then(() => remove(ids));
  }),
  "completes the calls of every member: closes first": keys("find", (find) => async (id) => {
    const found = await find(id);
    await setImmediate();
    await setImmediate();
    return found;
  }),
  "has a clock: −1.5": (storage) => ({ ...storage, clock: { now: () => -1.5 } }),
  "has a clock: in seconds": (storage) => ({ ...storage, clock: { now: () => 1_900_000_000 } }),
  "has a clock: NaN": (storage) => ({ ...storage, clock: { now: () => NaN } }),
  "has a clock: set back": (storage) => {
    let monotonic = 0;
    const clock = { now: () => 1_900_000_000_000, monotonic: () => (monotonic -= 1) };
    return { ...storage, clock };
  },
  "reuses no id after it is reopened: starts at the first id again": countingIds,
  "immediately finds the data: caches a page": cachingAPage,
  "immediately finds the data: caches keys": cachingKeys,
  "gives each pet its own id, even when two storages: counts in each storage": countingIds,
  "lists each pet exactly once to a follower: shows some late": showingLate,
  "counts concurrent charges of one key together when: in each storage": countingByDigest,
};

type Shown = PresentedKey | undefined;
type Call<T> = Promise<Result<T, StorageError>>;
type Update<Shown, Next> = <T>(id: string, decide: Decide<Shown, Next, T>) => Call<T>;

function relabeling(key: StoredApiKey | undefined) {
  return { next: key && { ...key, label: "new" }, result: key };
}

function countingOne(key: PresentedKey | undefined) {
  return { next: key && { ...key.usage, dayUsed: key.usage.dayUsed + 1 }, result: key };
}

function replaceIn<Port extends "pets" | "keys" | "usage">(port: Port) {
  return <Name extends keyof Storage[Port]>(
      name: Name,
      change: (real: Storage[Port][Name], storage: Storage) => Storage[Port][Name],
    ): Fault =>
    (storage) => {
      const real = storage[port];
      return { ...storage, [port]: { ...real, [name]: change(real[name], storage) } };
    };
}

function withIds(change: (id: bigint) => bigint): Fault {
  return pets("create", (create) => async (pet) => {
    return (await create(pet)).map((created) => ({ ...created, id: change(created.id) }));
  });
}

/** What is lost of a pet, in each way to add one. */
function losingInEachWay(changes: Readonly<Record<string, (pet: NewPet) => Partial<NewPet>>>) {
  const all = Object.entries(changes).flatMap(([name, change]) => {
    const changed = <P extends NewPet>(pet: P) => ({ ...pet, ...change(pet) });
    const ways: Readonly<Record<string, Fault>> = {
      create: pets("create", (create) => (pet) => create(changed(pet))),
      createOnce: pets("createOnce", (createOnce) => (pet, as) => createOnce(changed(pet), as)),
      import: pets("import", (add) => (all) => add(all.map(changed))),
    };
    const named = (way: string) => `keeps every field of a pet: ${name} in ${way}`;
    return Object.entries(ways).map(([way, fault]) => [named(way), fault] as const);
  });
  return Object.fromEntries(all);
}

function withPage(change: (page: PetPage, query: PetQuery) => PetPage): Fault {
  return pets("list", (list) => async (query) => {
    return (await list(query)).map((page) => change(page, query));
  });
}

/** Hides the pets that were created with a token, in this way. */
function hidingCreations(hide: (hidden: ReadonlySet<bigint>) => Fault): Fault {
  return (storage, opened) => {
    const hidden = new Set<bigint>();
    const hiding = pets("createOnce", (createOnce) => async (pet, request) => {
      return (await createOnce(pet, request)).map((made) => (hidden.add(made.petId), made));
    });
    return hide(hidden)(hiding(storage, opened), opened);
  };
}

function withStalePages(storage: Storage, opened: number): Storage {
  const cached = new Map<string, ReturnType<PetStorage["list"]>>();
  const list = pets("list", (list) => (query) => {
    const page = cached.get(String(query.status)) ?? list(query);
    cached.set(String(query.status), page);
    return page;
  });
  const renew = pets("import", (add) => (all) => (cached.clear(), add(all)));
  return renew(list(storage, opened), opened);
}

function countingIds(storage: Storage, opened: number): Storage {
  let id = 0n;
  return withIds(() => (id += 1n))(storage, opened);
}

function cachingAPage(storage: Storage, opened: number): Storage {
  let cached: ReturnType<PetStorage["list"]> | undefined;
  return pets("list", (list) => (query) => (cached ??= list(query)))(storage, opened);
}

function cachingKeys(storage: Storage, opened: number): Storage {
  const known = new Map<string, PresentedKey | undefined>();
  const show = showing((key, digest) => known.set(digest, known.get(digest) ?? key).get(digest));
  return show(storage, opened);
}

/** Shows a pet with an odd id later than the next one. */
function showingLate(storage: Storage, opened: number): Storage {
  const hidden = new Set<bigint>();
  const create = pets("create", (create) => async (pet) => {
    const created = await create(pet);
    const { id } = created._unsafeUnwrap();
    hidden.add(id);
    for (let turns = id % 2n; turns >= 0n; turns -= 1n) await setImmediate();
    hidden.delete(id);
    return created;
  });
  const list = withPage(({ pets, next }) => {
    return { pets: pets.filter(({ id }) => !hidden.has(id)), next };
  });
  return list(create(storage, opened), opened);
}

function withRequest(change: (request: CreationRequest) => Partial<CreationRequest>): Fault {
  return pets("createOnce", (createOnce) => (pet, request) => {
    return createOnce(pet, { ...request, ...change(request) });
  });
}

function showing(change: (key: Shown, digest: string) => Shown): Fault {
  return usage("charge", (charge) => (digest, decide) => {
    return charge(digest, (key) => decide(change(key, digest)));
  });
}

function storing(change: (next: Usage | undefined, digest: string) => Usage | undefined): Fault {
  return usage("charge", (charge) => (digest, decide) => {
    return charge(digest, (key) => {
      const { next, result } = decide(key);
      return { next: change(next, digest), result };
    });
  });
}

function countingByDigest(storage: Storage, opened: number): Storage {
  const counts = new Map<string, Usage>();
  const count = storing((next, digest) => next && counts.set(digest, next).get(digest));
  const show = showing((key, digest) => key && { ...key, usage: counts.get(digest) ?? NO_USAGE });
  return show(count(storage, opened), opened);
}

function readingFirst<Shown, Next>(update: Update<Shown, Next>): Update<Shown, Next> {
  return (id, decide) => {
    const shown = update(id, (shown) => ({ result: shown }));
    return inTwoCalls(shown, (shown) => update(id, () => decide(shown)));
  };
}

/** A call that is followed by a second one, which is how a storage fails to be atomic. */
async function inTwoCalls<T, U>(first: Call<T>, second: (value: T) => Promise<U>): Promise<U> {
  return second((await first)._unsafeUnwrap());
}

/** Does in a call for each what is to be done in one. */
function oneByOne<Each>(change: (all: readonly Each[]) => Call<number>) {
  return async (all: readonly Each[]): Call<number> => {
    let changed = 0;
    for (const each of all) {
      const one = await change([each]);
      if (one.isErr()) return err(one.error);
      changed += one.value;
    }
    return ok(changed);
  };
}

/** A fixture in memory, which stays open for the next one, unless the requirement is on closing it. */
function createMemoryFixture(isClosed: boolean, fault: Fault = (storage) => storage) {
  const memory = createMemoryStorage();
  const storage = isClosed ? memory : { ...memory, close: () => Promise.resolve(ok()) };
  let opened = 0;
  const open = () => Promise.resolve(fault(storage, opened++));
  return Promise.resolve({ open, remove: () => Promise.resolve() });
}

/** A fixture in a file, which other processes open, too. */
async function createFileFixture(fault?: AnyFault) {
  const folder = await mkdtemp(join(inject("sharedFolder"), "contract-"));
  const [inMemory, inFile] = typeof fault === "function" ? [fault] : [undefined, fault];
  const options: FileOptions = { file: join(folder, "pets"), fault: inFile };
  return {
    open: async () => {
      const storage = await openStorage(options);
      return inMemory?.(storage, 0) ?? storage;
    },
    options,
    remove: () => rm(folder, { recursive: true }),
  };
}

const allFaults = Object.entries({ ...faults, ...faultsOfProcesses });

function faultsOf({ name }: StorageRequirement) {
  return allFaults.filter(([fault]) => name.startsWith(fault.split(":")[0] ?? ""));
}

it("every requirement is broken by at least one storage, and every storage breaks one", () => {
  const found = storageRequirements.map((each) => ({ name: each.name, faults: faultsOf(each) }));
  expect(found.filter(({ faults }) => faults.length === 0).map(({ name }) => name)).toEqual([]);
  expect(found.flatMap(({ faults }) => faults)).toHaveLength(allFaults.length);
});

it("a requirement that needs an unsupported feature is skipped, with the reason in its name", () => {
  const declare = Object.assign(vi.fn(), { skip: vi.fn() });
  const unsupported = { sharing: "it is private" };
  const reasons = { ...unsupported, processes: "no module is named for other processes to import" };
  const framework = { describe: (_: string, body: () => void) => body(), it: declare };
  storageContract(framework, { name: "private", createFixture: createFileFixture, unsupported });
  const names = storageRequirements.flatMap(({ name, needs }) => {
    return needs && needs !== "reopening" ? [`${name} (${reasons[needs]})`] : [];
  });
  expect(declare.skip.mock.calls.map(([name]: unknown[]) => name)).toEqual(names);
  expect(declare).toHaveBeenCalledTimes(storageRequirements.length - names.length);
});

describe.each(storageRequirements)("$name", (requirement) => {
  const check = (fault?: AnyFault) => {
    const isClosed = requirement.name in closingRequirements;
    const isInFile = requirement.needs === "processes" || typeof fault === "string";
    const createFixture = () =>
      isInFile ? createFileFixture(fault) : createMemoryFixture(isClosed, fault);
    const module = { url: pathToFileURL(bundled(FILE_STORAGE)).href };
    const isPrivate = isClosed || (isInFile && fault !== undefined);
    const unsupported = isPrivate ? { sharing: "", reopening: "" } : {};
    return checkRequirement(requirement, { createFixture, module, unsupported });
  };
  const isTried = inCi || requirement.needs !== "processes";

  it.runIf(isTried)("is met by the memory storage, or by one in a file", () => check());

  it.runIf(isTried).each(faultsOf(requirement))("fails a broken one: %s", async (_, fault) => {
    await expect(check(fault)).rejects.toBeInstanceOf(AssertionError);
  });

  it.runIf(inCi && requirement.needs !== "processes")("is met by a file without transactions", () =>
    check("no transactions"),
  );
});
