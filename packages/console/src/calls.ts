import {
  parseInt64,
  petStatuses,
  type ApiKey,
  type BanLifted,
  type CreatePetError,
  type KeyError,
  type KeyIssued,
  type KeyRevoked,
  type KeyRing,
  type KeyRotated,
  type ListPetsError,
  type Pet,
  type PetCreated,
  type PetStore,
  type PlanChanged,
  type TrustedPets,
} from "@petstore/core";
import { err, okAsync, ResultAsync, type Result } from "neverthrow";
import * as v from "valibot";
import { createKeyIndex, shownKey } from "./key-index.js";
import { KEY_ORDERS, KEY_STATES, type Calls, type CallName, type ShownPet } from "./protocol.js";

/** An action that was taken on the console, and who took it. */
export type ConsoleEvent = (
  KeyIssued | KeyRotated | KeyRevoked | PlanChanged | BanLifted | Omit<PetCreated, "keyId">
) & { readonly actor: string };

/** The settings of the calls. */
export interface CallSettings {
  readonly actor: (request: Request) => string;
  readonly onEvent: (event: ConsoleEvent) => void;
  readonly onError: (cause: unknown) => void;
  /** Without a slash at the end. */
  readonly apiUrl: string;
}

/** A call that failed, and the HTTP status for it. */
export interface CallFailure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** For the host's log. */
  readonly cause?: unknown;
}

/** What a call returns to the page. */
export type CallResult = Result<object, CallFailure>;

/** Runs a call with the body that the page has sent. */
type Call = (request: Request, body: unknown) => Promise<CallResult>;

/** A storage looks up an id of any length; ours are short. */
const id = v.pipe(v.string(), v.maxLength(100));
const limits = v.optional(v.object({ perMinute: v.number(), perDay: v.number() }));

/** The form of each input. Core checks what the values mean. */
const inputs = {
  info: v.object({}),
  "keys/list": v.object({
    search: v.pipe(v.string(), v.maxLength(200)),
    state: v.optional(v.picklist(KEY_STATES)),
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
  "keys/change-plan": v.object({ id, plan: v.string(), limits }),
  "keys/lift-ban": v.object({ id }),
  "pets/list": v.object({
    status: v.optional(v.picklist(petStatuses)),
    after: v.optional(v.string()),
    limit: v.number(),
  }),
  "pets/add": v.object({
    name: v.string(),
    categoryId: v.string(),
    status: v.picklist(petStatuses),
  }),
} satisfies Readonly<Record<CallName, v.GenericSchema>>;

/** Creates the calls of the page, by name. */
export function createCalls(store: PetStore, settings: CallSettings): ReadonlyMap<string, Call> {
  const { apiUrl, actor, onEvent, onError } = settings;
  const now = (): number => store.clock.now();
  const report = (event: ConsoleEvent): void => {
    try {
      onEvent(event);
    } catch (error) {
      // The action was taken, and its result may hold a secret that is shown only now.
      onError(error);
    }
  };
  return new Map<string, Call>([
    call("info", now, (_, request) =>
      okAsync({ actor: actor(request), apiUrl, plans: store.plans }),
    ),
    ...keyCalls(store.keys, now, actor, report),
    ...petCalls(store.trusted, now, actor, report),
  ]);
}

type Report = (event: ConsoleEvent) => void;
type Actor = CallSettings["actor"];
type KeyEventType = Exclude<ConsoleEvent["type"], "pet_created">;

function keyCalls(keys: KeyRing, now: () => number, actor: Actor, report: Report) {
  const index = createKeyIndex(keys, now);
  const shown = (key: ApiKey) => ({ key: shownKey(key, now()) });
  /** Reports a change of a key and returns the key. */
  const changed = (type: KeyEventType, key: ApiKey, request: Request) => {
    index.put(key);
    report({ type, key, at: now(), actor: actor(request) });
    return shown(key);
  };
  return [
    call("keys/list", now, (input) => new ResultAsync(index.list(input))),
    call("keys/find", now, ({ id }) => keys.find(id).map(shown)),
    call("keys/find-by-secret", now, ({ secret }) => keys.findBySecret(secret).map(shown)),
    call("keys/issue", now, (input, request) =>
      keys
        .issue(input)
        .map(({ key, secret }) => ({ ...changed("key_issued", key, request), secret })),
    ),
    call("keys/rotate", now, ({ id, overlapSeconds }, request) =>
      keys
        .rotate(id, { overlapSeconds })
        .map(({ key, secret }) => ({ ...changed("key_rotated", key, request), secret })),
    ),
    call("keys/revoke", now, ({ id }, request) =>
      keys.revoke(id).map((key) => changed("key_revoked", key, request)),
    ),
    call("keys/change-plan", now, ({ id, ...to }, request) =>
      keys.changePlan(id, to).map((key) => changed("plan_changed", key, request)),
    ),
    call("keys/lift-ban", now, ({ id }, request) =>
      keys.liftBan(id).map((key) => changed("ban_lifted", key, request)),
    ),
  ] as const;
}

function petCalls(trusted: TrustedPets, now: () => number, actor: Actor, report: Report) {
  return [
    call("pets/list", now, ({ after, ...query }) =>
      trusted
        .listPets({ ...query, after: after === undefined ? undefined : parseInt64(after) })
        .map(({ pets, next }) => ({ pets: pets.map(shownPet), next: next?.toString() })),
    ),
    call("pets/add", now, ({ name, categoryId, status }, request) =>
      trusted
        // The store refuses what is not an int64, with a message that names the field.
        .createPet({ name, categoryId: parseInt64(categoryId) ?? NaN, status })
        .map(({ pet }) => {
          report({ type: "pet_created", pet, at: now(), actor: actor(request) });
          return { pet: shownPet(pet) };
        }),
    ),
  ] as const;
}

/** Pairs a call with its name. It checks the input, and adds the time to the output. */
function call<Name extends CallName>(
  name: Name,
  now: () => number,
  run: (
    input: v.InferOutput<(typeof inputs)[Name]>,
    request: Request,
  ) => ResultAsync<Calls[Name]["output"], KeyError | CreatePetError | ListPetsError>,
): readonly [Name, Call] {
  const schema = inputs[name];
  return [
    name,
    async (request, body) => {
      const parsed = v.safeParse(schema, body);
      if (!parsed.success) {
        return err({ status: 400, code: "bad_request", message: problemsOf(parsed.issues) });
      }
      const result = await run(parsed.output, request);
      return result
        .map((output) => ({ ...output, now: now() }))
        .mapErr((error) => ({ ...error, status: STATUSES[error.code] }));
    },
  ];
}

function problemsOf(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues.map((issue) => `${v.getDotPath(issue) ?? "body"}: ${issue.message}`).join("; ");
}

/** The HTTP status of each error that the store can return to the console. */
const STATUSES = {
  idempotency_key_reused: 422,
  invalid_idempotency_key: 400,
  invalid_key_request: 400,
  invalid_pet: 400,
  invalid_query: 400,
  key_inactive: 409,
  key_not_found: 404,
  storage_unavailable: 503,
  store_closed: 503,
} as const;

function shownPet({ id, name, categoryId, status }: Pet): ShownPet {
  return { id: id.toString(), name, categoryId: categoryId.toString(), status };
}
