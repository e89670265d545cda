/** A host callback that throws, or rejects later, never takes a request down. */
export function harmless<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
  onError: (cause: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      reportRejection(callback(...args), onError);
    } catch (cause) {
      onError(cause);
    }
  };
}

/** Where a callback has answered a promise: nobody waits for it, but a rejection would end the process. */
export function reportRejection(answer: unknown, onError: (cause: unknown) => void): void {
  if (typeof answer !== "object" || answer === null || !("then" in answer)) return;
  Promise.resolve(answer).catch(onError);
}

/** What a host's `origin` has answered. Throws a TypeError where that is no origin. */
export function mustBeOrigin(
  answer: unknown,
  onError: (cause: unknown) => void,
): string | undefined {
  if (answer === undefined || typeof answer === "string") return answer;
  reportRejection(answer, onError);
  throw new TypeError("origin must answer a text or undefined");
}
