/** Whether the operator has asked to stop. */
export interface StopSignal {
  isRequested(): boolean;
  /** Listens no longer. */
  end(): void;
}

/** Listens to SIGINT and SIGTERM, so that what is under way can stop where it can be resumed. */
export function listenForStop(): StopSignal {
  let requested = false;
  const request = (): void => {
    requested = true;
  };
  process.on("SIGINT", request).on("SIGTERM", request);
  return {
    isRequested: () => requested,
    end: () => {
      process.off("SIGINT", request).off("SIGTERM", request);
    },
  };
}
