import { useEffect, useRef, useState } from "preact/hooks";
import type { CallName, Calls, ErrorBody, Output } from "../protocol.js";

/** Why a call has no result. */
export interface Problem {
  readonly message: string;
  /** Whether the same call may succeed later, by itself. */
  readonly isPassing: boolean;
}

/** The output of a call, or why there is none. */
export type CallResult<Name extends CallName> =
  | { readonly output: Output<Name>; readonly problem?: undefined }
  | { readonly output?: undefined; readonly problem: Problem };

/** A call that takes longer counts as failed, in milliseconds. */
const TIMEOUT = 20_000;

/** Calls the console. Secrets are in bodies only, never in a URL. */
export async function call<Name extends CallName>(
  name: Name,
  input: Calls[Name]["input"],
): Promise<CallResult<Name>> {
  try {
    const response = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (response.headers.get("Content-Type") !== "application/json") {
      return failed("The login has ended. Reload this page to log in again.", false);
    }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- The handler has this type for the call.
    const body: Output<Name> & ErrorBody = await response.json();
    return response.ok ? { output: body } : failed(body.message, body.status >= 500);
  } catch {
    return failed("The console does not respond.", true);
  }
}

function failed(message: string, isPassing: boolean): { readonly problem: Problem } {
  return { problem: { message, isPassing } };
}

/** How often what is shown is read again, in milliseconds. */
const INTERVAL = 2_000;
/** How long to wait after failures in a row, in milliseconds. */
const PAUSES = [1_000, 2_000, 5_000, 10_000] as const;

/** The newest output of a call, and the problem of its last try. */
export interface Polled<Name extends CallName> {
  readonly output: Output<Name> | undefined;
  readonly problem: Problem | undefined;
  /** Calls again at once. */
  readonly reload: () => void;
}

/** Repeats a call while the page is visible. After a change of the input, the old output stays until there is a new one. */
export function usePolled<Name extends CallName>(
  name: Name,
  input: Calls[Name]["input"],
): Polled<Name> {
  const [state, setState] = useState<Pick<Polled<Name>, "output" | "problem">>({
    output: undefined,
    problem: undefined,
  });
  const reload = useRef<() => void>(() => undefined);
  const body = JSON.stringify(input);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let latest = 0;
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (document.visibilityState === "hidden") return;
      const id = ++latest;
      const { output, problem } = await call(name, input);
      // A later call has been sent, or the input has changed.
      if (id !== latest) return;
      failures = problem === undefined ? 0 : failures + 1;
      setState((before) => ({ output: output ?? before.output, problem }));
      const pause = PAUSES[Math.min(failures, PAUSES.length) - 1] ?? INTERVAL;
      if (problem === undefined || problem.isPassing) timer = setTimeout(start, pause);
    };
    const start = (): void => void run();
    reload.current = start;
    document.addEventListener("visibilitychange", start);
    window.addEventListener("online", start);
    start();
    return () => {
      latest = Infinity;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", start);
      window.removeEventListener("online", start);
    };
    // The text stands for the input, which is a new object at each rendering.
  }, [name, body]);

  return { ...state, reload: () => reload.current() };
}
