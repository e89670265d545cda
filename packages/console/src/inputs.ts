import { parseInt64, petStatuses } from "@petstore/core";
import type { ListPetsInput, NewPetInput, RateLimits } from "@petstore/core";
import type { EachField } from "@petstore/core/internal";
import { isIdempotencyKey } from "@petstore/core/facts";
import { err, ok, type Result } from "neverthrow";
import * as v from "valibot";
import { KEY_ORDERS, SHOWN_STATES, type CallName } from "./protocol.js";

const id = v.string();
const idempotencyKey = v.custom<string>(isIdempotencyKey);
/** The store refuses what is not an int64, with a message that names the field. */
const readInt64 = v.transform((text: string) => parseInt64(text) ?? NaN);
const int64 = v.pipe(v.string(), readInt64);
const plan = { plan: v.string(), limits: v.optional(v.custom<RateLimits>(() => true)) };

/** The form of the input of each call. Core checks what the values mean. An int64 is text. */
const inputs = {
  info: v.object({}),
  "keys/list": v.object({
    /** Part of a label, an id or a hint, without regard to case; empty for all keys. */
    search: v.pipe(v.string(), v.maxLength(200)),
    state: v.optional(v.picklist(SHOWN_STATES)),
    plan: v.optional(v.string()),
    order: v.picklist(KEY_ORDERS),
    page: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
  "keys/find": v.object({ id }),
  "keys/find-by-secret": v.object({ secret: v.string() }),
  "keys/issue": v.object({
    ...plan,
    label: v.optional(v.string()),
    expiresAt: v.optional(v.number()),
  }),
  "keys/rotate": v.object({ id, overlapSeconds: v.number() }),
  "keys/revoke": v.object({ id }),
  "keys/end-secret": v.object({ id, hint: v.string() }),
  "keys/change-plan": v.object({ id, ...plan }),
  "keys/lift-ban": v.object({ id }),
  "secrets/recover": v.object({ idempotencyKey }),
  "secrets/take": v.object({ idempotencyKey }),
  "pets/list": v.object({
    status: v.optional(v.picklist(petStatuses)),
    after: v.optional(int64),
    limit: v.number(),
  } satisfies SchemaOfEach<ListPetsInput>),
  "pets/add": v.object({
    name: v.string(),
    categoryId: int64,
    status: v.picklist(petStatuses),
  } satisfies SchemaOfEach<NewPetInput>),
} satisfies Readonly<Record<CallName, v.GenericSchema>>;

/** A field of core's that is missing does not compile. */
type SchemaOfEach<T> = EachField<Record<keyof T, v.GenericSchema>>;

export type Input<Name extends CallName> = v.InferInput<(typeof inputs)[Name]>;
export type ParsedInput<Name extends CallName> = v.InferOutput<(typeof inputs)[Name]>;

export const isCallName = (name: string): name is CallName => Object.hasOwn(inputs, name);

export function parseInput<Name extends CallName>(
  name: Name,
  body: unknown,
): Result<ParsedInput<Name>, string> {
  const parsed = v.safeParse(inputs[name], body);
  if (parsed.success) return ok(parsed.output);
  const problems = parsed.issues.map((each) => `${v.getDotPath(each) ?? "body"}: ${each.message}`);
  return err(problems.join("; "));
}
