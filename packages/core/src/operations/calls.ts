import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  closeTimedOut,
  storageUnavailable,
  storeClosed,
  type AdmissionError,
  type StorageUnavailable,
  type Unavailable,
  type WithQuota,
} from "../errors.js";
import { parseApiKey } from "../keys/key-format.js";
import {
  changePlan,
  findKey,
  issueKey,
  liftBan,
  listKeys,
  purgeKeys,
  revokeKey,
  rotateKey,
} from "../keys/key-operations.js";
import type { KeyRing } from "../keys/key-ring.js";
import type { Quota } from "../limits/window.js";
import type { Admission, Caller, Charged, TrustedPets } from "../pet-store.js";
import { admit, type ChargedKey } from "./admit.js";
import { createPet } from "./create-pet.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";

/** Runs the calls of a store while it is open. */
export interface Calls {
  /**
   * Runs a call. `fail` completes the error if the store is closed, or if the call throws because of a
   * bug or a storage that rejects.
   */
  run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: Unavailable) => F,
  ): ResultAsync<T, E | F>;
  /**
   * Refuses new calls, waits for the running ones, and runs the last call. After this many seconds, it
   * waits no longer: the last call is started if it was not, and the result is an error.
   */
  close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailable>>,
  ): ResultAsync<void, StorageUnavailable>;
}

/** Creates the calls of a store that is open. */
export function createCalls(): Calls {
  let isOpen = true;
  let running = 0;
  let whenIdle: (() => void) | undefined;

  async function run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: Unavailable) => F,
  ): Promise<Result<T, E | F>> {
    if (!isOpen) return err(fail(storeClosed()));
    running += 1;
    try {
      return await call();
    } catch (cause) {
      return err(fail(storageUnavailable(cause)));
    } finally {
      running -= 1;
      if (running === 0) whenIdle?.();
    }
  }

  async function close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailable>>,
  ): Promise<Result<void, StorageUnavailable>> {
    isOpen = false;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    if (running === 0) whenIdle?.();
    const deadline = startDeadline(seconds);
    try {
      await Promise.race([idle, deadline.reached]);
      const late = running;
      const closed = lastCall();
      const timedOut = deadline.reached.then(() => err(closeTimedOut(late, seconds)));
      const first = await Promise.race([closed, timedOut]);
      return late > 0 ? await timedOut : first;
    } catch (cause) {
      return err(storageUnavailable(cause));
    } finally {
      deadline.clear();
    }
  }

  return {
    run: (call, fail) => new ResultAsync(run(call, fail)),
    close: (seconds, lastCall) => new ResultAsync(close(seconds, lastCall)),
  };
}

function startDeadline(seconds: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reached = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1_000);
  });
  return { reached, clear: () => clearTimeout(timer) };
}

/** Creates the operations of a caller with an API key. */
export function createCaller(
  context: Context,
  calls: Calls,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  let digest: ReturnType<typeof parseApiKey> | undefined;
  const admitRequest = () => admit(context, (digest ??= parseApiKey(apiKey)), origin);
  const originQuota = () => context.anonymous.peek(origin);

  const perform = <T extends object, E extends object>(
    operation: (keyId: string) => Promise<Result<T, E>>,
  ): ResultAsync<T & Charged, WithQuota<E | AdmissionError>> => {
    let quota: Quota | undefined;
    const call = async (): Promise<Result<T & Charged, WithQuota<E | AdmissionError>>> => {
      const admitted = await admitRequest();
      if (admitted.isErr()) return err(admitted.error);
      quota = admitted.value.quota;
      return withQuota(await operation(admitted.value.keyId), quota);
    };
    return calls.run(call, (error) => ({ ...error, quota: quota ?? originQuota() }));
  };

  return {
    admit: () =>
      calls.run(
        async () => (await admitRequest()).map((key) => createAdmission(context, calls, key)),
        (error) => ({ ...error, quota: originQuota() }),
      ),
    listPets: (input = {}) => perform(() => listPets(context, input)),
    createPet: (input, options = {}) =>
      perform((keyId) => createPet(context, input, options, keyId)),
    getPet: (id) => perform((keyId) => getPet(context, id, keyId)),
  };
}

function createAdmission(context: Context, calls: Calls, { keyId, quota }: ChargedKey): Admission {
  const perform = <T extends object, E extends object>(operation: () => Promise<Result<T, E>>) =>
    calls.run(
      async () => withQuota(await operation(), quota),
      (error) => ({ ...error, quota }),
    );
  return {
    keyId,
    quota,
    listPets: (input = {}) => perform(() => listPets(context, input)),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options, keyId)),
    getPet: (id) => perform(() => getPet(context, id, keyId)),
  };
}

function withQuota<T extends object, E extends object>(
  result: Result<T, E>,
  quota: Quota,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr() ? err({ ...result.error, quota }) : ok({ ...result.value, quota });
}

/** Creates the host's own operations on pets. */
export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  return Object.freeze({
    listPets: (input = {}) => calls.run(() => listPets(context, input), asIs),
    createPet: (input, options = {}) => calls.run(() => createPet(context, input, options), asIs),
    getPet: (id) => calls.run(() => getPet(context, id), asIs),
  } satisfies TrustedPets);
}

/** Creates the host's operations on API keys. */
export function createKeyRing(context: Context, calls: Calls): KeyRing {
  const find: KeyRing["find"] = (id) => calls.run(() => findKey(context, id), asIs);
  return Object.freeze({
    issue: (input) => calls.run(() => issueKey(context, input), asIs),
    find,
    list: (input = {}) => calls.run(() => listKeys(context, input), asIs),
    revoke: (id) => calls.run(() => revokeKey(context, id), asIs),
    rotate: (id, options = {}) => calls.run(() => rotateKey(context, id, options), asIs),
    changePlan: (id, to) => calls.run(() => changePlan(context, id, to), asIs),
    liftBan: (id) => calls.run(() => liftBan(context, id), asIs),
    purge: (options) => calls.run(() => purgeKeys(context, options), asIs),
    usage: (id) => find(id).map(({ usage }) => usage),
  } satisfies KeyRing);
}

function asIs(error: Unavailable): Unavailable {
  return error;
}
