import type { ApiKey, IssuedKey, KeyError, Pet, PetStore, PetStoreError } from "@petstore/core";
import { err, okAsync, type Result, type ResultAsync } from "neverthrow";
import { parseInput, type ParsedInput } from "./inputs.js";
import { createKeyIndex, shownKey } from "./key-index.js";
import { createOutcomes, type CallFailure, type RunResult } from "./outcomes.js";
import type { CallName, Outputs, SecretOutput, ShownPet } from "./protocol.js";
import type { ConsoleEvent, Settings } from "./settings.js";

interface Sender {
  readonly actor: string;
  readonly idempotencyKey: string | undefined;
}

type Runs<Group extends CallName> = {
  readonly [Name in Group]: (input: ParsedInput<Name>, sender: Sender) => Done<Outputs[Name]>;
};
type Done<T> = ResultAsync<T, DoneError> | Promise<Result<T, DoneError>>;
type DoneError = KeyError | PetStoreError | CallFailure;

/** The HTTP status of each error; 400 if it is not named. The page shows a status below 500 as a refusal. */
const statuses: Readonly<Record<KeyError["code"], number> & Record<string, number>> = {
  invalid_key_request: 400,
  key_not_found: 404,
  key_inactive: 409,
  storage_unavailable: 503,
  store_closed: 503,
};

export function createConsoleCalls(store: PetStore, settings: Settings) {
  const outcomes = createOutcomes();
  const runs: Runs<CallName> = {
    info: (_, { actor }) => okAsync({ actor, baseUrl: settings.baseUrl, plans: store.plans }),
    "secrets/recover": ({ idempotencyKey }, { actor }) =>
      outcomes.recover(scoped(idempotencyKey, actor)),
    "secrets/take": ({ idempotencyKey }, { actor }) => {
      outcomes.take(scoped(idempotencyKey, actor));
      return okAsync({});
    },
    ...keyCalls(store, settings),
    ...petCalls(store, settings),
  };
  const run = async <Name extends CallName>(name: Name, body: unknown, sender: Sender) => {
    const input = parseInput(name, body);
    if (input.isErr()) return err({ status: 400, code: "bad_request", message: input.error });
    return (await runs[name](input.value, sender))
      .map((output) => ({ ...output, now: store.clock.now() }))
      .mapErr((error) =>
        "status" in error ? error : { ...error, status: statuses[error.code] ?? 400 },
      );
  };
  return (name: CallName, body: unknown, sender: Sender): Promise<RunResult> => {
    const { actor, idempotencyKey } = sender;
    const act = () => run(name, body, sender);
    return idempotencyKey === undefined
      ? act()
      : outcomes.once(scoped(idempotencyKey, actor), JSON.stringify([name, body]), act);
  };
}

const stateOf = ({ plan, limits, revokedAt, bannedUntil }: ApiKey): string =>
  JSON.stringify([plan, limits, revokedAt, bannedUntil]);

function keyCalls({ keys, clock }: PetStore, { onEvent }: Settings): Runs<CallOf<"keys">> {
  const index = createKeyIndex(keys, clock);
  const shown = (key: ApiKey) => ({ key: shownKey(key, clock.now()) });
  /** `was`: the key before the action. One that has changed nothing is no event. */
  const changed =
    (type: Exclude<ConsoleEvent["type"], "pet_created">, { actor }: Sender, was?: ApiKey) =>
    (key: ApiKey) => {
      index.put(key);
      const isUnchanged = was && stateOf(was) === stateOf(key);
      if (!isUnchanged) onEvent({ type, keyId: key.id, key, at: clock.now(), actor });
      return shown(key);
    };
  const made =
    (...change: Parameters<typeof changed>) =>
    ({ key, secret }: IssuedKey): SecretOutput => ({ ...changed(...change)(key), secret });
  return {
    "keys/list": (input) => index.list(input),
    "keys/find": ({ id }) => keys.find(id).map(shown),
    "keys/find-by-secret": ({ secret }) => keys.findBySecret(secret).map(shown),
    "keys/issue": (input, by) => keys.issue(input).map(made("key_issued", by)).mapErr(making),
    "keys/rotate": ({ id, ...how }, by) =>
      keys.rotate(id, how).map(made("key_rotated", by)).mapErr(making),
    "keys/revoke": ({ id }, by) =>
      keys.find(id).andThen((was) => keys.revoke(id).map(changed("key_revoked", by, was))),
    "keys/end-secret": ({ id, hint }, by) =>
      keys.endSecret(id, hint).map(changed("secret_ended", by)),
    "keys/change-plan": ({ id, ...to }, by) =>
      keys.find(id).andThen((was) => keys.changePlan(id, to).map(changed("plan_changed", by, was))),
    "keys/lift-ban": ({ id }, by) =>
      keys.find(id).andThen((was) => keys.liftBan(id).map(changed("ban_lifted", by, was))),
  };
}

/** Says whether what failed may have made a secret, which is lost then. */
function making(error: KeyError) {
  return { ...error, mayHaveMade: error.code === "storage_unavailable" && error.mayBeStored };
}

function petCalls({ trusted, clock }: PetStore, { onEvent }: Settings): Runs<CallOf<"pets">> {
  return {
    "pets/list": (query) =>
      trusted
        .listPets(query)
        .map(({ pets, next }) => ({ pets: pets.map(shownPet), next: next?.toString() })),
    // The store remembers the idempotency key, too: also when this process ends, or when it cannot say what was stored.
    "pets/add": (newPet, { actor, idempotencyKey }) =>
      trusted.createPet(newPet, { idempotencyKey }).map(({ pet, replayed }) => {
        const event = { keyId: undefined, pet, at: clock.now(), actor };
        if (!replayed) onEvent({ type: "pet_created", ...event });
        return { pet: shownPet(pet) };
      }),
  };
}

type CallOf<Group extends string> = Extract<CallName, `${Group}/${string}`>;

const scoped = (idempotencyKey: string, actor: string): string => `${idempotencyKey} ${actor}`;

function shownPet(pet: Pet): ShownPet {
  return { ...pet, id: pet.id.toString(), categoryId: pet.categoryId.toString() };
}
