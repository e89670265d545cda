import type { ApiKeyBanned, RateLimitExceeded, WithQuota } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import type { ClientClock } from "./clock.js";
import { withSeconds, type Aborted, type TimedOut, type UnexpectedResponse } from "./errors.js";
import { afterEnding, afterSending, isOpen, OPEN, type Ended, type Gate } from "./gate.js";
import type { Lifetime } from "./lifetime.js";

/** Why the gate is closed. Calls that cannot wait get this error. */
export type Refusal = WithQuota<RateLimitExceeded | ApiKeyBanned> | UnexpectedResponse;

/** The number of a request that may be sent now, or why none is sent. */
export type Entered = Result<number, Refusal | Aborted | TimedOut>;

/** The calls of a client in front of its gate. */
export interface Queue {
  /**
   * Resolves when the call may send a request. Calls go in the order of their arrival; one that the server has
   * refused enters `again` and goes before the others. If the gate opens only after the call's deadline,
   * resolves to the refusal.
   */
  enter(lifetime: Lifetime, again: boolean, onWaiting: (seconds: number) => void): Promise<Entered>;
  /** To be called when a request has ended. If that closes the gate, waiting calls get `refusal`. */
  leave(ended: Ended, refusal: Refusal | undefined): void;
}

/** Creates the queue of a client. */
export function createQueue(clock: ClientClock, maxInFlight: number): Queue {
  let gate = OPEN;
  let refusal: Refusal | undefined;
  let stopTimer = (): void => undefined;
  const line = createLine();

  /** Lets calls through while the gate is open, and again when it opens. */
  function letThrough(): void {
    stopTimer();
    for (const call of line.inOrder()) {
      const now = clock.now();
      if (!isOpen(gate, maxInFlight, now)) {
        if (gate.opensAt > now) stopTimer = clock.startTimer(gate.opensAt - now, letThrough);
        return;
      }
      gate = afterSending(gate);
      call.resolve(ok(gate.sent));
    }
  }

  return {
    enter: async (lifetime, again, onWaiting) => {
      const ending = lifetime.ending();
      if (ending !== undefined) return err(ending);
      const refused = refusalFor(lifetime, gate, refusal, clock.now());
      if (refused !== undefined) {
        await nextTurn(clock);
        return err(refused);
      }
      const call = line.add(lifetime, again);
      letThrough();
      if (line.has(call)) onWaiting(Math.max(0, gate.opensAt - clock.now()) / 1_000);
      const first = await Promise.race([call.entered, lifetime.ended]);
      // A call that ended in the turn in which it was let through has a place in the gate: `leave` gives it back.
      return line.remove(call) ? first : call.entered;
    },
    leave: (ended, newRefusal) => {
      const { opensAt } = gate;
      gate = afterEnding(gate, ended, clock.now());
      if (gate.opensAt > opensAt) {
        refusal = newRefusal;
        for (const call of line.inOrder()) {
          const refused = refusalFor(call.lifetime, gate, refusal, clock.now());
          if (refused !== undefined) call.resolve(err(refused));
        }
      }
      letThrough();
    },
  };
}

/** Returns the refusal for a call that cannot wait until the gate opens. */
function refusalFor(
  { endsAt }: Lifetime,
  { opensAt }: Gate,
  refusal: Refusal | undefined,
  now: number,
): Refusal | undefined {
  if (refusal === undefined || opensAt <= now || endsAt > opensAt) return undefined;
  if (refusal.code === "unexpected_response") return refusal;
  return withSeconds(refusal, Math.ceil((opensAt - now) / 1_000));
}

/** Waits for a later turn: a loop of refused calls must not keep everything else from running. */
function nextTurn(clock: ClientClock): Promise<void> {
  return new Promise((resolve) => clock.startTimer(0, resolve));
}

interface Waiting {
  readonly lifetime: Lifetime;
  readonly entered: Promise<Entered>;
  /** Takes the call out of the line and resolves `entered`. */
  readonly resolve: (entered: Entered) => void;
}

/** Creates the line of calls that wait for the gate. Those that enter again stand before the others. */
function createLine() {
  const again = new Set<Waiting>();
  const first = new Set<Waiting>();
  const remove = (call: Waiting): boolean => again.delete(call) || first.delete(call);
  return {
    add: (lifetime: Lifetime, isAgain: boolean): Waiting => {
      let resolve: (entered: Entered) => void = () => undefined;
      const entered = new Promise<Entered>((resolveEntered) => {
        resolve = resolveEntered;
      });
      const call: Waiting = {
        lifetime,
        entered,
        resolve: (result) => {
          remove(call);
          resolve(result);
        },
      };
      (isAgain ? again : first).add(call);
      return call;
    },
    has: (call: Waiting) => again.has(call) || first.has(call),
    /** Returns whether the call was still waiting. */
    remove,
    inOrder: function* () {
      yield* again;
      yield* first;
    },
  };
}
