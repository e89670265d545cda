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
  let waiting = new Set<WaitingCall>();
  let stopTimer = (): void => undefined;

  function letThrough(): void {
    stopTimer();
    for (const call of waiting) {
      const now = clock.now();
      if (!isOpen(gate, maxInFlight, now)) {
        if (gate.asksAt > now) stopTimer = clock.startTimer(gate.asksAt - now, letThrough);
        return;
      }
      gate = afterSending(gate);
      waiting.delete(call);
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
      const call = createWaitingCall(lifetime, again);
      waiting = withCall(waiting, call);
      letThrough();
      if (waiting.has(call)) onWaiting(Math.max(0, gate.asksAt - clock.now()) / 1_000);
      const first = await Promise.race([call.entered, lifetime.ended]);
      // A call that ended in the turn in which it was let through has a place in the gate: `leave` gives it back.
      if (!waiting.delete(call)) return call.entered;
      // The timer of the gate ends with the last call that waits for it.
      letThrough();
      return first;
    },
    /** To be called when a request has ended. If that closes the gate, calls that cannot wait get its refusal. */
    leave: (ended: Ended): void => {
      const now = clock.now();
      const { asksAt } = gate;
      gate = afterEnding(gate, ended, now);
      for (const call of gate.asksAt > asksAt ? waiting : []) {
        const refused = refusalFor(gate, call.lifetime.endsAt, now);
        if (refused === undefined) continue;
        waiting.delete(call);
        call.resolve(err(refused));
      }
      letThrough();
    },
  };
}

type WaitingCall = ReturnType<typeof createWaitingCall>;

function createWaitingCall(lifetime: Lifetime, isAgain: boolean) {
  let resolve: (entered: Entered) => void = () => undefined;
  const entered = new Promise<Entered>((resolveEntered) => (resolve = resolveEntered));
  return { lifetime, isAgain, entered, resolve };
}

/** Adds a call that waits. One that enters again stands behind the others that do, and before the rest. */
function withCall(waiting: Set<WaitingCall>, call: WaitingCall): Set<WaitingCall> {
  if (!call.isAgain) return waiting.add(call);
  return new Set([...[...waiting].filter(({ isAgain }) => isAgain), call, ...waiting]);
}
