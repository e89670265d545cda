import { petStatuses, type RateLimits } from "@petstore/core";
import type { EachField } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import * as v from "valibot";
import { KEY_ORDERS, SHOWN_STATES, type CallName, type Calls } from "./protocol.js";

/** A storage looks up an id of any length; ours are short. */
const id = v.pipe(v.string(), v.maxLength(100));
const idempotencyKey = v.pipe(v.string(), v.maxLength(255));
const limits = v.optional(
  v.object({
    perMinute: v.number(),
    perDay: v.number(),
  } satisfies EachField<Record<keyof RateLimits, unknown>>),
);

/** The form of each input. Core checks what the values mean. */
const inputs = {
  info: v.object({}),
  "keys/list": v.object({
    search: v.pipe(v.string(), v.maxLength(200)),
    state: v.optional(v.picklist(SHOWN_STATES)),
    plan: v.optional(v.string()),
    order: v.picklist(KEY_ORDERS),
    page: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
  "keys/find": v.object({ id }),
  "keys/find-by-secret": v.object({ secret: v.string() }),
  "keys/issue": v.object({
    plan: v.string(),
    limits,
    label: v.optional(v.string()),
    expiresAt: v.optional(v.number()),
  }),
  "keys/rotate": v.object({ id, overlapSeconds: v.number() }),
  "keys/revoke": v.object({ id }),
  "keys/end-secret": v.object({ id, hint: v.string() }),
  "keys/change-plan": v.object({ id, plan: v.string(), limits }),
  "keys/lift-ban": v.object({ id }),
  "secrets/recover": v.object({ idempotencyKey }),
  "secrets/take": v.object({ idempotencyKey }),
  "pets/list": v.object({
    status: v.optional(v.picklist(petStatuses)),
    after: v.optional(v.string()),
    limit: v.number(),
  }),
  "pets/add": v.object({
    name: v.string(),
    categoryId: v.string(),
    status: v.picklist(petStatuses),
  } satisfies EachField<Record<keyof Calls["pets/add"]["input"], unknown>>),
} satisfies Readonly<Record<CallName, v.GenericSchema>>;

/** The input of a call. */
export type Input<Name extends CallName> = v.InferOutput<(typeof inputs)[Name]>;

/** Checks the form of the input of a call. `Err` says what is wrong. */
export function parseInput<Name extends CallName>(
  name: Name,
  body: unknown,
): Result<Input<Name>, string> {
  const schema = inputs[name];
  const parsed = v.safeParse(schema, body);
  return parsed.success ? ok(parsed.output) : err(problemsOf(parsed.issues));
}

function problemsOf(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues.map((issue) => `${v.getDotPath(issue) ?? "body"}: ${issue.message}`).join("; ");
}
