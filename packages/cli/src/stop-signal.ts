/** The operator's signal to stop an import, an export or a backup. */
export interface StopSignal {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly end: () => void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens for the first stop signal. A second one ends the process at once. */
export function listenForStop(): StopSignal {
  const controller = new AbortController();
  const end = (): void => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  const stop = (): void => {
    end();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return { signal: controller.signal, end };
}
