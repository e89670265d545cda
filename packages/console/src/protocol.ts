import type { ApiKey, KeyState, Pet, PetStatus, Plan, RateLimits } from "@petstore/core";
import type { EachWindow, WindowName } from "@petstore/core/facts";
import type { SecretState } from "@petstore/core/internal";

/** The states that a key can be shown in. All that apply are shown. Times are those of the store's clock. */
export const SHOWN_STATES = [
  /** Requests are accepted, within the limits. */
  "active",
  /** The key expires within seven days. */
  "expiring",
  /** A secret was replaced by a rotation and is still accepted. */
  "replaced",
  "banned",
  "expired",
  "revoked",
] as const satisfies readonly (KeyState["name"] | "expiring" | "replaced")[];

/** A state that a key can be shown in. A key may have several. */
export type ShownState = (typeof SHOWN_STATES)[number];

/** The order of a list of keys: the newest first, or those with most requests in this minute and day first. */
export const KEY_ORDERS = ["newest", "use"] as const;

/** The limit of each window. */
export const WINDOW_LIMITS = {
  minute: "perMinute",
  day: "perDay",
} as const satisfies EachWindow<keyof RateLimits>;

/** The windows, from the shortest to the longest. */
export const WINDOWS = Object.keys(WINDOW_LIMITS).filter(
  (name): name is WindowName => name in WINDOW_LIMITS,
);

/** How many keys a page shows. */
export const PAGE_SIZE = 50;

/** A key as the page shows it. */
export interface ShownKey extends Omit<ApiKey, "secrets"> {
  readonly states: readonly ShownState[];
  /** Newest first. */
  readonly secrets: readonly SecretState[];
}

/** Which keys to show. */
export interface KeyListInput {
  /** Part of a label, an id or a hint, without regard to case; empty for all keys. */
  readonly search: string;
  readonly state?: ShownState | undefined;
  readonly plan?: string | undefined;
  readonly order: (typeof KEY_ORDERS)[number];
  /** From 0. */
  readonly page: number;
}

/** One page of keys, and how many there are. */
export interface KeyList {
  readonly keys: readonly ShownKey[];
  /** How many keys the store has. */
  readonly total: number;
  /** How many keys match the search, the state and the plan. */
  readonly matching: number;
  /** How many of the keys that match the search and the plan are in each state, and how many there are. */
  readonly counts: Readonly<Record<ShownState | "all", number>>;
  /** When the keys were last read for search and order. The shown keys are always current. */
  readonly readAt: number;
}

/** The fields of the form for a new plan. */
export interface PlanFields {
  readonly plan: string;
  readonly limits?: RateLimits | undefined;
}

/** A pet as the page shows it: JavaScript's numbers are not exact for an int64. */
export type ShownPet = { readonly [Field in keyof Pet]: Shown<Pet[Field]> };

type Shown<Value> = bigint extends Value ? string : Value;

/** A key and its secret, which is shown once. */
export interface SecretOutput {
  readonly key: ShownKey;
  readonly secret: string;
}

interface KeyOutput {
  readonly key: ShownKey;
}

interface IdInput {
  readonly id: string;
}

interface KeyOfAction {
  readonly idempotencyKey: string;
}

/**
 * What the page can call, by name: `POST api/<name>` with JSON. An action that has an `Idempotency-Key` is done once
 * for each key: a repeat has the same result.
 */
export interface Calls {
  info: {
    input: object;
    output: {
      readonly actor: string;
      readonly baseUrl: string;
      readonly plans: Readonly<Record<string, Plan>>;
    };
  };
  "keys/list": { input: KeyListInput; output: KeyList };
  "keys/find": { input: IdInput; output: KeyOutput };
  "keys/find-by-secret": { input: { readonly secret: string }; output: KeyOutput };
  "keys/issue": {
    input: PlanFields & {
      readonly label?: string | undefined;
      readonly expiresAt?: number | undefined;
    };
    output: SecretOutput;
  };
  "keys/rotate": { input: IdInput & { readonly overlapSeconds: number }; output: SecretOutput };
  "keys/revoke": { input: IdInput; output: KeyOutput };
  "keys/end-secret": { input: IdInput & { readonly hint: string }; output: KeyOutput };
  "keys/change-plan": { input: IdInput & PlanFields; output: KeyOutput };
  "keys/lift-ban": { input: IdInput; output: KeyOutput };
  /** The result of an action that made a secret; an error if it was not done, which it will not be then. */
  "secrets/recover": { input: KeyOfAction; output: SecretOutput };
  /** The operator has stored the secret: the console forgets it. */
  "secrets/take": { input: KeyOfAction; output: object };
  "pets/list": {
    input: {
      readonly status?: PetStatus | undefined;
      readonly after?: string | undefined;
      readonly limit: number;
    };
    output: { readonly pets: readonly ShownPet[]; readonly next?: string | undefined };
  };
  "pets/add": {
    input: Omit<ShownPet, "id">;
    output: { readonly pet: ShownPet };
  };
}

/** The name of a call, which ends its path. */
export type CallName = keyof Calls;

/** The time of the store's clock, in milliseconds since the Unix epoch, is part of every result. */
export type Output<Name extends CallName> = Calls[Name]["output"] & { readonly now: number };

/** The body of a response that is not 200. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}
