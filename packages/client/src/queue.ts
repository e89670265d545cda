import type { ApiKeyBanned, RateLimitExceeded, WithQuota } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import type { ClientClock } from "./clock.js";
import { withSeconds, type Aborted, type TimedOut, type UnexpectedResponse } from "./errors.js";
import { afterEnding, afterSending, isOpen, OPEN, type Ended } from "./gate.js";
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

interface Waiting {
  readonly lifetime: Lifetime;
  readonly resolve: (entered: Entered) => void;
}

/** Creates the queue of a client. */
export function createQueue(clock: ClientClock, maxInFlight: number): Queue {
  let gate = OPEN;
  let refusal: Refusal | undefined;
  let stopTimer = (): void => undefined;
  const refused = new Set<Waiting>();
  const fresh = new Set<Waiting>();

  /** Lets calls through while the gate is open, and comes back when it opens. */
  function letThrough(): void {
    stopTimer();
    for (const waiting of [refused, fresh]) {
      for (const call of waiting) {
        if (!isOpen(gate, maxInFlight, clock.now())) {
          waitForOpening();
          return;
        }
        waiting.delete(call);
        gate = afterSending(gate);
        call.resolve(ok(gate.sent));
      }
    }
  }

  function waitForOpening(): void {
    const closedFor = gate.opensAt - clock.now();
    if (closedFor > 0) stopTimer = clock.startTimer(closedFor, letThrough);
  }

  /** Returns the refusal for a call that cannot wait until the gate opens. */
  function refusalFor({ endsAt }: Lifetime): Refusal | undefined {
    const now = clock.now();
    if (refusal === undefined || gate.opensAt <= now || endsAt > gate.opensAt) return undefined;
    if (refusal.code === "unexpected_response") return refusal;
    return withSeconds(refusal, Math.ceil((gate.opensAt - now) / 1_000));
  }

  async function enter(
    lifetime: Lifetime,
    again: boolean,
    onWaiting: (seconds: number) => void,
  ): Promise<Entered> {
    const ending = lifetime.ending();
    if (ending !== undefined) return err(ending);
    const refusal = refusalFor(lifetime);
    if (refusal !== undefined) {
      // A loop of refused calls must not keep everything else from running.
      await new Promise<void>((resolve) => clock.startTimer(0, resolve));
      return err(refusal);
    }
    const waiting = again ? refused : fresh;
    let resolve: (entered: Entered) => void = () => undefined;
    const entered = new Promise<Entered>((resolveEntered) => {
      resolve = resolveEntered;
    });
    const call: Waiting = { lifetime, resolve };
    waiting.add(call);
    letThrough();
    if (!waiting.has(call)) return entered;
    onWaiting(Math.max(0, gate.opensAt - clock.now()) / 1_000);
    const first = await Promise.race([entered, lifetime.ended]);
    // If the call ended in the turn in which it was let through, its place in the gate must be given back.
    return waiting.delete(call) ? first : entered;
  }

  return {
    enter,
    leave: (ended, newRefusal) => {
      const { opensAt } = gate;
      gate = afterEnding(gate, ended, clock.now());
      if (gate.opensAt > opensAt) {
        refusal = newRefusal;
        for (const waiting of [refused, fresh]) {
          for (const call of waiting) {
            const refusalOfCall = refusalFor(call.lifetime);
            if (refusalOfCall === undefined) continue;
            waiting.delete(call);
            call.resolve(err(refusalOfCall));
          }
        }
      }
      letThrough();
    },
  };
}
