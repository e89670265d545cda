import { err, ok, type Result } from "neverthrow";
import { startWait, type ClientClock } from "./clock.js";
import { afterEnding, afterSending, isOpen, OPEN, refusalFor } from "./gate.js";
import type { Ended, Refusal } from "./gate.js";
import type { Ending, Lifetime } from "./lifetime.js";

/** The number of a request that may be sent now, or why none is sent. */
export type Entered = Result<number, Refusal | Ending>;

export type Queue = ReturnType<typeof createQueue>;

export function createQueue(clock: ClientClock, maxInFlight: number) {
  let gate = OPEN;
  const waiting = createWaitingCalls();
  let stopTimer = (): void => undefined;

  function letThrough(): void {
    stopTimer();
    for (const call of waiting.inOrder()) {
      const now = clock.now();
      if (!isOpen(gate, maxInFlight, now)) {
        if (gate.asksAt > now) stopTimer = clock.startTimer(gate.asksAt - now, letThrough);
        return;
      }
      gate = afterSending(gate);
      call.resolve(ok(gate.sent));
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
      const refusal = refusalFor(gate, lifetime.endsAt, clock.now());
      if (refusal !== undefined) {
        // A later turn: a loop of refused calls must not keep everything else from running.
        await startWait(clock, 0).passed;
        return err(refusal);
      }
      const call = waiting.add(lifetime, again);
      letThrough();
      if (waiting.has(call)) onWaiting(Math.max(0, gate.asksAt - clock.now()) / 1_000);
      const first = await Promise.race([call.entered, lifetime.ended]);
      // A call that ended in the turn in which it was let through has a place in the gate: `leave` gives it back.
      if (!waiting.remove(call)) return call.entered;
      // The timer of the gate ends with the last call that waits for it.
      letThrough();
      return first;
    },
    /** To be called when a request has ended. If that closes the gate, calls that cannot wait get its refusal. */
    leave: (ended: Ended): void => {
      const now = clock.now();
      const { asksAt } = gate;
      gate = afterEnding(gate, ended, now);
      for (const call of gate.asksAt > asksAt ? waiting.inOrder() : []) {
        const refused = refusalFor(gate, call.lifetime.endsAt, now);
        if (refused !== undefined) call.resolve(err(refused));
      }
      letThrough();
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
