/** What a worker tells the process that started it. */
export type WorkerMessage =
  | { readonly kind: "listening"; readonly url: string }
  /** One line for a person: why the worker could not start, or not end well. */
  | { readonly kind: "problem"; readonly problem: string };

/** Whether something that came from a worker is such a message. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  if (typeof message !== "object" || message === null || !("kind" in message)) return false;
  if (message.kind === "listening") return "url" in message && typeof message.url === "string";
  return message.kind === "problem" && "problem" in message && typeof message.problem === "string";
}
