/** The operator's wish to stop. */
export interface StopSignal {
  /** Aborted at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Listens no longer. */
  end(): void;
}

/**
 * Listens for one SIGINT or SIGTERM, so that what is under way can stop where it can be resumed. A second
 * one ends the process as if nobody had listened.
 */
export function listenForStop(): StopSignal {
  const controller = new AbortController();
  const end = (): void => {
    process.off("SIGINT", request).off("SIGTERM", request);
  };
  const request = (): void => {
    end();
    controller.abort();
  };
  process.on("SIGINT", request).on("SIGTERM", request);
  return { signal: controller.signal, end };
}
