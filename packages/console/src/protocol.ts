import type { ApiKey, KeyState, Pet, Plan } from "@petstore/core";

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

export type ShownState = (typeof SHOWN_STATES)[number];

export const KEY_ORDERS = ["newest", "use"] as const;

export const PAGE_SIZE = 50;

/** A plan may have no limit for a window. */
export interface ShownKey extends Omit<ApiKey, "secrets" | "usage">, Pick<KeyState, "secrets"> {
  readonly states: readonly ShownState[];
  readonly usage: Partial<ApiKey["usage"]>;
}

export interface KeyList {
  readonly keys: readonly ShownKey[];
  readonly total: number;
  /** How many keys match the search, the state and the plan. */
  readonly matching: number;
  /** How many of the keys that match the search and the plan are in each state, and how many there are. */
  readonly counts: Readonly<Record<ShownState | "all", number>>;
  /** When the keys were last read for search and order. The shown keys are always current. */
  readonly readAt: number;
}

/** JavaScript's numbers are not exact for an int64. */
export type ShownPet = { readonly [Field in keyof Pet]: Shown<Pet[Field]> };

type Shown<Value> = bigint extends Value ? string : Value;

interface KeyOutput {
  readonly key: ShownKey;
}

export interface SecretOutput extends KeyOutput {
  readonly secret: string;
}

/**
 * The outputs of what the page can call, by name: `POST api/<name>` with JSON (`inputs`). A call with an
 * `Idempotency-Key` is done once for each key: a repeat has the same result.
 */
export interface Outputs {
  readonly info: {
    readonly actor: string;
    readonly baseUrl: string;
    readonly plans: Readonly<Record<string, Plan>>;
  };
  readonly "keys/list": KeyList;
  readonly "keys/find": KeyOutput;
  readonly "keys/find-by-secret": KeyOutput;
  readonly "keys/issue": SecretOutput;
  readonly "keys/rotate": SecretOutput;
  readonly "keys/revoke": KeyOutput;
  readonly "keys/end-secret": KeyOutput;
  readonly "keys/change-plan": KeyOutput;
  readonly "keys/lift-ban": KeyOutput;
  /** The result of a call that made a secret; an error if it was not done, which it will not be then. */
  readonly "secrets/recover": SecretOutput;
  /** The operator has stored the secret: the console forgets it. */
  readonly "secrets/take": object;
  readonly "pets/list": { readonly pets: readonly ShownPet[]; readonly next: string | undefined };
  readonly "pets/add": { readonly pet: ShownPet };
}

export type CallName = keyof Outputs;

/** The time of the store's clock, in milliseconds since the Unix epoch, is part of every result. */
export type Output<Name extends CallName> = Outputs[Name] & { readonly now: number };

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}
