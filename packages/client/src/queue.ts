import { err, ok, type Result } from "neverthrow";
import { startWait, type ClientClock } from "./clock.js";
import { withSeconds } from "./errors.js";
import { afterEnding, afterSending, isOpen, OPEN, type Ended, type Refusal } from "./gate.js";
import type { Ending, Lifetime } from "./lifetime.js";

/** The number of a request that may be sent now, or why none is sent. */
export type Entered = Result<number, Refusal | Ending>;

export type Queue = ReturnType<typeof createQueue>;

export function createQueue(clock: ClientClock, maxInFlight: number) {
  const gate = createGate(maxInFlight);
  const waiting = createWaitingCalls();
  let stopTimer = (): void => undefined;

  function letThrough(): void {
    stopTimer();
    for (const call of waiting.inOrder()) {
      const now = clock.now();
      const number = gate.pass(now);
      if (number === undefined) {
        const wait = gate.opensIn(now);
        if (wait > 0) stopTimer = clock.startTimer(wait, letThrough);
        return;
      }
      call.resolve(ok(number));
    }
  }

  return {
    /**
     * Resolves when the call may send a request. Calls go in the order of their arrival; one that the server has
     * refused enters `again` and goes before the others. If the gate opens only after the call's deadline,
     * resolves to the refusal.
     */
    enter: async (
      lifetime: Lifetime,
      again: boolean,
      onWaiting: (seconds: number) => void,
    ): Promise<Entered> => {
      const ending = lifetime.ending();
      if (ending !== undefined) return err(ending);
      const refusal = gate.refusalFor(lifetime, clock.now());
      if (refusal !== undefined) {
        // A later turn: a loop of refused calls must not keep everything else from running.
        await startWait(clock, 0).passed;
        return err(refusal);
      }
      const call = waiting.add(lifetime, again);
      letThrough();
      if (waiting.has(call)) onWaiting(gate.opensIn(clock.now()) / 1_000);
      const first = await Promise.race([call.entered, lifetime.ended]);
      // A call that ended in the turn in which it was let through has a place in the gate: `leave` gives it back.
      if (!waiting.remove(call)) return call.entered;
      // The timer of the gate ends with the last call that waits for it.
      letThrough();
      return first;
    },
    /** To be called when a request has ended. If that closes the gate, waiting calls get `refusal`. */
    leave: (ended: Ended, refusal: Refusal | undefined): void => {
      const now = clock.now();
      const refusable = gate.end(ended, refusal, now) ? waiting.inOrder() : [];
      for (const call of refusable) {
        const refused = gate.refusalFor(call.lifetime, now);
        if (refused !== undefined) call.resolve(err(refused));
      }
      letThrough();
    },
  };
}

function createGate(maxInFlight: number) {
  let gate = OPEN;
  let closedBy: Refusal | undefined;
  return {
    /** Returns the number of a request that may be sent now; `undefined` while the gate is closed. */
    pass: (now: number): number | undefined => {
      if (!isOpen(gate, maxInFlight, now)) return undefined;
      gate = afterSending(gate);
      return gate.sent;
    },
    /** Returns after how many milliseconds the gate opens; 0 if it does so when another request ends. */
    opensIn: (now: number): number => Math.max(0, gate.asksAt - now),
    /** Ends a request. Returns whether that closes the gate for longer: then because of `refusal`. */
    end: (ended: Ended, refusal: Refusal | undefined, now: number): boolean => {
      const { asksAt } = gate;
      gate = afterEnding(gate, ended, now);
      if (gate.asksAt <= asksAt) return false;
      closedBy = refusal;
      return true;
    },
    refusalFor: ({ endsAt }: Lifetime, now: number): Refusal | undefined => {
      const { opensAt, asksAt } = gate;
      if (closedBy === undefined || asksAt <= now || endsAt > asksAt) return undefined;
      if (closedBy.code === "unexpected_response") return closedBy;
      return withSeconds(closedBy, Math.ceil((opensAt - now) / 1_000));
    },
  };
}

interface WaitingCall {
  readonly lifetime: Lifetime;
  readonly entered: Promise<Entered>;
  /** Takes the call out of the queue and resolves `entered`. */
  readonly resolve: (entered: Entered) => void;
}

/** Creates the calls that wait for the gate. Those that enter again stand before the others. */
function createWaitingCalls() {
  const again = new Set<WaitingCall>();
  const first = new Set<WaitingCall>();
  const remove = (call: WaitingCall): boolean => again.delete(call) || first.delete(call);
  return {
    add: (lifetime: Lifetime, isAgain: boolean): WaitingCall => {
      let resolve: (entered: Entered) => void = () => undefined;
      const entered = new Promise<Entered>((resolveEntered) => (resolve = resolveEntered));
      const resolveOnce = (result: Entered): void => {
        remove(call);
        resolve(result);
      };
      const call: WaitingCall = { lifetime, entered, resolve: resolveOnce };
      (isAgain ? again : first).add(call);
      return call;
    },
    has: (call: WaitingCall) => again.has(call) || first.has(call),
    remove,
    inOrder: function* () {
      yield* again;
      yield* first;
    },
  };
}
