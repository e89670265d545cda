import {
  parseInt64,
  type ApiKey,
  type CreatePetError,
  type KeyError,
  type KeyRing,
  type ListPetsError,
  type Pet,
  type PetStore,
  type PetStoreEvent,
  type TrustedPets,
} from "@petstore/core";
import { statuses } from "@petstore/wire";
import { err, okAsync, ResultAsync } from "neverthrow";
import { parseInput, type Input } from "./inputs.js";
import { createKeyIndex, shownKey } from "./key-index.js";
import { createOutcomes, type CallResult, type Outcomes } from "./outcomes.js";
import type { Calls, CallName, ShownPet } from "./protocol.js";

/** An action that was taken on the console, and who took it. */
export type ConsoleEvent = Extract<
  PetStoreEvent,
  { readonly key: ApiKey } | { readonly type: "pet_created" }
> & { readonly actor: string };

/** The settings of the calls. */
export interface ConsoleCallSettings {
  readonly actor: (request: Request) => string;
  readonly onEvent: (event: ConsoleEvent) => void;
  readonly onError: (cause: unknown) => void;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

/** Runs a call of this actor with the body that the page has sent. */
type Call = (
  body: unknown,
  actor: string,
  idempotencyKey: string | undefined,
) => Promise<CallResult>;

/** What the calls share. */
interface Context {
  /** The time of the store's clock. */
  readonly now: () => number;
  readonly outcomes: Outcomes;
  readonly report: (event: ConsoleEvent) => void;
}

/** Creates the calls of the page, by name. */
export function createConsoleCalls(
  store: PetStore,
  settings: ConsoleCallSettings,
): ReadonlyMap<string, Call> {
  const { baseUrl, onEvent: report } = settings;
  const now = (): number => store.clock.now();
  const context = { now, report, outcomes: createOutcomes() };
  return new Map<string, Call>([
    call("info", context, (_, by) => okAsync({ actor: by, baseUrl, plans: store.plans })),
    ...keyCalls(store.keys, context),
    ...secretCalls(context),
    ...petCalls(store.trusted, context),
  ]);
}

function keyCalls(keys: KeyRing, context: Context) {
  const { now, report } = context;
  const index = createKeyIndex(keys, now);
  const shown = (key: ApiKey) => ({ key: shownKey(key, now()) });
  /** Reports a change of a key and returns the key. */
  const changed = (
    type: Exclude<ConsoleEvent["type"], "pet_created">,
    key: ApiKey,
    actor: string,
  ) => {
    index.put(key);
    report({ type, keyId: key.id, key, at: now(), actor });
    return shown(key);
  };
  return [
    call("keys/list", context, (input) => new ResultAsync(index.list(input))),
    call("keys/find", context, ({ id }) => keys.find(id).map(shown)),
    call("keys/find-by-secret", context, ({ secret }) => keys.findBySecret(secret).map(shown)),
    action("keys/issue", context, (input, by) =>
      keys.issue(input).map(({ key, secret }) => ({ ...changed("key_issued", key, by), secret })),
    ),
    action("keys/rotate", context, ({ id, overlapSeconds }, by) =>
      keys
        .rotate(id, { overlapSeconds })
        .map(({ key, secret }) => ({ ...changed("key_rotated", key, by), secret })),
    ),
    action("keys/revoke", context, ({ id }, by) =>
      keys.revoke(id).map((key) => changed("key_revoked", key, by)),
    ),
    action("keys/end-secret", context, ({ id, hint }, by) =>
      keys.endSecret(id, hint).map((key) => changed("secret_ended", key, by)),
    ),
    action("keys/change-plan", context, ({ id, ...to }, by) =>
      keys.changePlan(id, to).map((key) => changed("plan_changed", key, by)),
    ),
    action("keys/lift-ban", context, ({ id }, by) =>
      keys.liftBan(id).map((key) => changed("ban_lifted", key, by)),
    ),
  ] as const;
}

function secretCalls(context: Context) {
  const { outcomes } = context;
  return [
    checked("secrets/recover", ({ idempotencyKey }, by) =>
      outcomes.recover(scoped(idempotencyKey, by)),
    ),
    call("secrets/take", context, ({ idempotencyKey }, by) => {
      outcomes.take(scoped(idempotencyKey, by));
      return okAsync({});
    }),
  ] as const;
}

function petCalls(trusted: TrustedPets, context: Context) {
  const { now, report } = context;
  return [
    call("pets/list", context, ({ after, ...query }) =>
      trusted
        .listPets({ ...query, after: after === undefined ? undefined : int64(after) })
        .map(({ pets, next }) => ({ pets: pets.map(shownPet), next: next?.toString() })),
    ),
    // The store remembers the idempotency key, too: also when this process ends, or when it cannot say what was stored.
    action("pets/add", context, ({ categoryId, ...pet }, actor, idempotencyKey) =>
      trusted
        .createPet({ ...pet, categoryId: int64(categoryId) }, { idempotencyKey })
        .map(({ pet }) => {
          report({ type: "pet_created", keyId: undefined, pet, at: now(), actor });
          return { pet: shownPet(pet) };
        }),
    ),
  ] as const;
}

/** The store refuses what is not an int64, with a message that names the field. */
function int64(text: string): bigint | number {
  return parseInt64(text) ?? NaN;
}

/** What a call does with input of the right form. */
type Run<Name extends CallName, Done> = (
  input: Input<Name>,
  actor: string,
  idempotencyKey: string | undefined,
) => Done;
type Done<Name extends CallName> = ResultAsync<
  Calls[Name]["output"],
  KeyError | CreatePetError | ListPetsError
>;

/** Pairs a call with its name. It adds the time to the output. */
function call<Name extends CallName>(
  name: Name,
  { now }: Context,
  run: Run<Name, Done<Name>>,
): readonly [Name, Call] {
  return checked(name, async (...given) => {
    const result = await run(...given);
    return result
      .map((output) => ({ ...output, now: now() }))
      .mapErr((error) => ({ ...error, status: statuses[error.code] }));
  });
}

/** Pairs an action with its name. It is done once for each idempotency key of an actor. */
function action<Name extends CallName>(
  name: Name,
  context: Context,
  run: Run<Name, Done<Name>>,
): readonly [Name, Call] {
  const [, act] = call(name, context, run);
  return [
    name,
    (body, actor, key) =>
      key === undefined
        ? act(body, actor, key)
        : context.outcomes.once(scoped(key, actor), JSON.stringify([name, body]), () =>
            act(body, actor, key),
          ),
  ];
}

function scoped(idempotencyKey: string, actor: string): string {
  return `${idempotencyKey} ${actor}`;
}

/** Pairs a call with its name. It checks the form of the input. */
function checked<Name extends CallName>(
  name: Name,
  run: Run<Name, Promise<CallResult>>,
): readonly [Name, Call] {
  return [
    name,
    async (body, ...more) => {
      const input = parseInput(name, body);
      return input.isOk()
        ? run(input.value, ...more)
        : err({ status: 400, code: "bad_request", message: input.error });
    },
  ];
}

function shownPet(pet: Pet): ShownPet {
  return { ...pet, id: pet.id.toString(), categoryId: pet.categoryId.toString() };
}
