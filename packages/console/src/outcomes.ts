import { err, ok, type Result } from "neverthrow";
import type { ErrorBody, SecretOutput } from "./protocol.js";

export interface CallFailure extends ErrorBody {
  readonly cause?: unknown;
  /** Whether a secret may have been made, which is lost. */
  readonly mayHaveMade?: boolean;
}

export type RunResult = Result<object, CallFailure>;

/** How long an outcome is kept, in milliseconds. */
const LIFE = 3_600_000;
const MOST_KEPT = 1_000;

interface KeptOutcome {
  /** The text of the request; `undefined` if any request with the idempotency key gets this outcome. */
  readonly request: string | undefined;
  result: Promise<RunResult>;
  /** Whether it is running, or has a secret that was not taken. */
  isNeeded: boolean;
}

/** A repeat returns the same outcome, also if the response was lost. In memory only, because some hold a secret. */
export function createOutcomes() {
  const kept = new Map<string, KeptOutcome>();

  const keep = (key: string, outcome: KeptOutcome): void => {
    kept.set(key, outcome);
    const timer: number | { readonly unref: () => unknown } = setTimeout(() => {
      if (kept.get(key) === outcome) kept.delete(key);
    }, LIFE);
    // On runtimes where a timer is an object, it would keep the process running.
    if (typeof timer === "object") timer.unref();
  };
  return {
    once: async (key: string, request: string, act: () => Promise<RunResult>) => {
      const known = kept.get(key);
      if (known !== undefined) {
        return (known.request ?? request) === request ? known.result : err(REUSED);
      }
      if (!hasRoom(kept)) return err(FULL);
      const outcome: KeptOutcome = { request, result: act(), isNeeded: true };
      keep(key, outcome);
      const result = await outcome.result;
      outcome.isNeeded = result.isOk() && hasSecret(result.value);
      if (result.isOk()) return result;
      if (result.error.mayHaveMade) outcome.result = Promise.resolve(err(WITHDRAWN));
      // After a failure of the storage, a repeat is a new try.
      else if (result.error.status >= 500) kept.delete(key);
      return result;
    },
    /** Returns the secret that an action made. An action that has not arrived is refused from now on. */
    recover: async (key: string): Promise<Result<SecretOutput, CallFailure>> => {
      const known = kept.get(key);
      if (known !== undefined) {
        const result = await known.result;
        return result.andThen((output) => (hasSecret(output) ? ok(output) : err(WITHDRAWN)));
      }
      if (!hasRoom(kept)) return err(FULL);
      keep(key, { request: undefined, result: Promise.resolve(err(WITHDRAWN)), isNeeded: false });
      return err(WITHDRAWN);
    },
    /** Drops the secret of an outcome. The action is not done again. */
    take: (key: string): void => {
      const known = kept.get(key);
      if (known === undefined) return;
      known.result = Promise.resolve(err(TAKEN));
      known.isNeeded = false;
    },
  };
}

/** A secret that was not taken stays. */
function hasRoom(kept: Map<string, KeptOutcome>): boolean {
  if (kept.size < MOST_KEPT) return true;
  for (const [key, { isNeeded }] of kept) if (!isNeeded) return kept.delete(key);
  return false;
}

const hasSecret = (output: object): output is SecretOutput => "secret" in output;

const REUSED: CallFailure = {
  status: 422,
  code: "idempotency_key_reused",
  message: "The idempotency key was used before, for another action.",
};
const FULL: CallFailure = {
  status: 503,
  code: "too_many_secrets",
  message: "Too many new secrets wait to be stored by those who made them. Nothing was done.",
};
const TAKEN: CallFailure = {
  status: 409,
  code: "secret_taken",
  message: "The secret was shown before, and its storing was confirmed.",
};
const WITHDRAWN: CallFailure = {
  status: 409,
  code: "withdrawn",
  message:
    "The console has no outcome of this action, and does not do it any more. If the list shows that it was done, the storage failed, or the console was restarted since: rotate the key for a secret that you see.",
};
