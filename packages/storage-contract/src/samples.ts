import { petStatuses, standardPlans } from "@petstore/core";
import {
  INT64_MIN,
  limitNames,
  limitsOnly,
  petFilters,
  type EachField,
  type PetFilter,
} from "@petstore/core/internal";
import {
  INT64_MAX,
  NO_USAGE,
  type ApiKeySecret,
  type CreationRequest,
  type NewPet,
  type PetQuery,
  type StoredApiKey,
  type Usage,
} from "@petstore/core/storage";

/** An int64 that a double cannot hold. */
export const beyondDouble = 2n ** 53n + 1n;

/** The values of each field that a storage must keep exact; first that of `aPet`. */
export const petValues = {
  name: [
    "Rex",
    "",
    " padded ",
    'O\'Malley; "drop" --`%_\\',
    "two\nlines\r\nand a\ttab",
    "🐕‍🦺 and \u{10FFFF}",
    "caf\u00e9",
    "cafe\u0301",
    "\uFEFF\uFFFD\uFFFF",
    "12",
    "1e3",
    "long ".repeat(20_000),
  ],
  categoryId: [7n, 0n, 1n, -1n, beyondDouble, -beyondDouble, INT64_MAX, INT64_MIN],
  status: petStatuses,
} as const satisfies { readonly [Field in keyof NewPet]-?: readonly NewPet[Field][] };

export function aPet(changes: Partial<NewPet> = {}): NewPet {
  const { name, categoryId, status } = petValues;
  const pet: EachField<NewPet> = { name: name[0], categoryId: categoryId[0], status: status[0] };
  return { ...pet, ...changes };
}

/** Pets that have each of these values once; each differs from `aPet` in one field. */
export const unusualPets: readonly NewPet[] = Object.entries(petValues).flatMap(([field, values]) =>
  values.slice(1).map((value) => aPet({ [field]: value })),
);

/** The first 100 pets. */
export const firstPage: PetQuery = { limit: 100, after: undefined };

/** Each filter with three values and without, alone and with the others. */
export const filters = petFilters.reduce<readonly PetFilter[]>(
  (all, field) =>
    [undefined, ...petValues[field].slice(0, 3)].flatMap((value) =>
      all.map((filter) => ({ ...filter, [field]: value })),
    ),
  [{}],
);

/** A pet for each of these filters that leaves none out. */
export const filteredPets = petFilters.reduce<readonly NewPet[]>(
  (all, field) =>
    petValues[field].slice(0, 3).flatMap((value) => all.map((pet) => ({ ...pet, [field]: value }))),
  [aPet()],
);

/** How a creation is remembered, until a second after `now`. */
export function aRequest(changes: Partial<CreationRequest> = {}): CreationRequest {
  const now = 1_900_000_000_000;
  return { token: "token", fingerprint: "of a pet", now, expiresAt: now + 1_000, ...changes };
}

/** A key to insert. Its one secret has the digest `digest of <id>`. */
export function aKey(id: string, changes: Partial<StoredApiKey> = {}): StoredApiKey {
  return {
    id,
    plan: "free",
    limits: limitsOnly(standardPlans.free),
    label: undefined,
    createdAt: 1_900_000_000_000,
    expiresAt: undefined,
    revokedAt: undefined,
    secrets: [aSecret(`digest of ${id}`)],
    ...changes,
  };
}

const GREATEST = Number.MAX_SAFE_INTEGER;

/** A key with a value in every field. 0 is a valid time, not a missing one. */
export function aFullKey(id: string): StoredApiKey {
  const key: EachField<StoredApiKey> = {
    id,
    plan: "enterprise",
    limits: { ...aKey(id).limits, ...numbers(limitNames, (index) => index || GREATEST) },
    label: "Ünïcode 🐾 'label'",
    createdAt: 0,
    expiresAt: GREATEST,
    revokedAt: 0,
    secrets: [
      aSecret(`newest of ${id}`, { expiresAt: 0 }),
      aSecret(`middle of ${id}`, { hint: "pet_live_zzzz", expiresAt: GREATEST }),
      aSecret(`oldest of ${id}`),
    ],
  };
  return key;
}

export function aSecret(digest: string, changes: Partial<ApiKeySecret> = {}): ApiKeySecret {
  return { digest, hint: "pet_live_abcd", expiresAt: undefined, ...changes };
}

/** A usage with a different value in every field. */
export function aUsage(changes: Partial<Usage> = {}): Usage {
  return { ...usageOf((index) => index + 1), ...changes };
}

/** A usage with the greatest number in every field. */
export const greatestUsage = usageOf(() => GREATEST);

/** Returns the usage in whose fields this function returns the numbers. */
function usageOf(number: (index: number) => number): Usage {
  return { ...NO_USAGE, ...numbers(Object.keys(NO_USAGE), number) };
}

function numbers(fields: readonly string[], number: (index: number) => number) {
  return Object.fromEntries(fields.map((field, index) => [field, number(index)] as const));
}

/** The usage with one more request in each window. */
export function oneMore(usage: Usage): Usage {
  return { ...usage, minuteUsed: usage.minuteUsed + 1, dayUsed: usage.dayUsed + 1 };
}

/** The usage of a new key after `count` requests that were counted by `oneMore`. */
export function usedTimes(count: number): Usage {
  return { ...NO_USAGE, minuteUsed: count, dayUsed: count };
}
