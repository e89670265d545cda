import { err, ok, type Result } from "neverthrow";
import * as v from "valibot";
import { MAX_TIME } from "../clock.js";
import { invalidKeyRequest, type CodedError } from "../errors.js";
import { areRateLimits, limitFields, type Plans } from "../limits/plan.js";
import { limitsOnly, type RateLimits } from "../limits/windows.js";
import type { StoredApiKey } from "./api-key.js";
import { isText } from "../validation/text.js";
import { integer, strictRecord } from "../validation/options.js";

/** The longest label of a key, in characters. */
export const LABEL_LENGTH = 200;
/** The longest overlap of two secrets: a year, in seconds. */
export const LONGEST_OVERLAP = 31_536_000;
/** How long ago a key that is purged may have ended at most: a hundred years, in seconds. */
export const LONGEST_AGE = 3_153_600_000;

/** A plan, and the key's own limits if the plan is custom. */
export interface PlanInput {
  /** A plan's name: `free`, `pro`, `business`, `enterprise` or one that the host added. */
  readonly plan: string;
  /** The key's own limits: required on a custom plan such as `enterprise`, refused on others. */
  readonly limits?: RateLimits | undefined;
}

export interface IssueKeyInput extends PlanInput {
  /** A name for people to recognize the key: at most 200 characters. */
  readonly label?: string | undefined;
  /** From when the key is refused: milliseconds since the Unix epoch, or a Date; in the future. */
  readonly expiresAt?: number | Date | undefined;
}

export interface RotateKeyOptions {
  /** How long the old secret stays accepted, from 0 (the default) to 31,536,000 (a year). */
  readonly overlapSeconds?: number | undefined;
}

export interface PurgeKeysOptions {
  /** How long ago a key must have ended: an integer from 0 to 3,153,600,000 (100 years). */
  readonly olderThanSeconds: number;
}

export interface ListKeysInput {
  /** The size of the page: an integer from 1 to 1,000; 100 by default. */
  readonly limit?: number | undefined;
  /** Only keys after this id: the `next` of the previous page. */
  readonly after?: string | undefined;
  /** Only keys that are banned now. */
  readonly banned?: boolean | undefined;
}

type PlanChoice = Pick<StoredApiKey, "plan" | "limits">;

type Parsed<T> = Result<T, CodedError<"invalid_key_request">>;

const overlapSchema = strictRecord({ overlapSeconds: v.optional(integer(0, LONGEST_OVERLAP), 0) });

const purgeSchema = strictRecord({ olderThanSeconds: integer(0, LONGEST_AGE) });

const querySchema = strictRecord({
  limit: v.optional(integer(1, 1_000), 100),
  after: v.optional(v.string("must be a key's id")),
  banned: v.optional(v.boolean("must be true or false"), false),
});

export function parseKeyRequest(
  input: IssueKeyInput,
  plans: Plans,
  now: number,
): Parsed<PlanChoice & Pick<StoredApiKey, "label" | "expiresAt">> {
  const schema = strictRecord({
    ...planEntries(plans),
    label: v.optional(
      v.custom<string>(isKeyLabel, `must be text of at most ${LABEL_LENGTH} characters`),
    ),
    expiresAt: v.optional(
      v.pipe(
        v.unknown(),
        v.transform((time) => (time instanceof Date ? time.getTime() : time)),
        integer(now + 1, MAX_TIME, "must be a time in the future"),
      ),
    ),
  });
  return parse(schema, input).andThen(({ plan, limits, label, expiresAt }) =>
    limitsOn(plan, limits, plans).map((own) => ({ plan, limits: own, label, expiresAt })),
  );
}

export function parsePlanChoice(input: PlanInput, plans: Plans): Parsed<PlanChoice> {
  return parse(strictRecord(planEntries(plans)), input).andThen(({ plan, limits }) =>
    limitsOn(plan, limits, plans).map((own) => ({ plan, limits: own })),
  );
}

/** Returns milliseconds. */
export function parseOverlap(options: RotateKeyOptions): Parsed<number> {
  return parse(overlapSchema, options).map(({ overlapSeconds }) => overlapSeconds * 1_000);
}

/** Returns milliseconds. */
export function parseAge(options: PurgeKeysOptions): Parsed<number> {
  return parse(purgeSchema, options).map(({ olderThanSeconds }) => olderThanSeconds * 1_000);
}

export const parseKeyQuery = (input: ListKeysInput) => parse(querySchema, input);

/** The error lists every problem, after the path of the wrong value. */
function parse<const Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): Parsed<v.InferOutput<Schema>> {
  const parsed = v.safeParse(schema, input, { abortPipeEarly: true });
  if (parsed.success) return ok(parsed.output);
  const pathOf = (issue: v.BaseIssue<unknown>) => v.getDotPath(issue) ?? "the request";
  return err(invalidKeyRequest(parsed.issues.map((each) => `${pathOf(each)} ${each.message}`)));
}

export function isKeyLabel(label: unknown): label is string {
  return isText(label) && label.length <= LABEL_LENGTH;
}

function planEntries(plans: Plans) {
  const names = [...plans.keys()];
  return {
    // A missing plan gets the message of a wrong one.
    plan: v.optional(v.picklist(names, `must be one of ${names.join(", ")}`), ""),
    limits: v.optional(v.unknown()),
  };
}

function limitsOn(name: string, limits: unknown, plans: Plans): Parsed<RateLimits> {
  const plan = plans.get(name);
  if (plan !== undefined && plan !== "custom") {
    if (limits === undefined) return ok(plan);
    return err(invalidKeyRequest([`the ${name} plan has fixed limits; leave limits out`]));
  }
  if (areRateLimits(limits)) return ok(limitsOnly(limits));
  const rule = `{ ${limitFields} }, each a positive integer, and nothing else`;
  return err(invalidKeyRequest([`the ${name} plan needs limits of its own: ${rule}`]));
}
