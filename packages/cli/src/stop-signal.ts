const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The operator's wish to stop. */
export interface StopSignal {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Listens no longer. */
  end(): void;
}

/**
 * Listens for one SIGINT, SIGTERM or SIGHUP, so that what is under way can stop where it can be resumed. A second
 * one ends the process as if nobody had listened.
 */
export function listenForStop(): StopSignal {
  const controller = new AbortController();
  const end = (): void => {
    for (const signal of SIGNALS) process.off(signal, request);
  };
  const request = (): void => {
    end();
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, request);
  return { signal: controller.signal, end };
}
