import { useEffect, useRef, useState } from "preact/hooks";
import type { Input } from "../inputs.js";
import type { CallName, ErrorBody, Output } from "../protocol.js";

export interface Problem {
  readonly message: string;
  /**
   * `refused`: the console did nothing. `failed`: it could not, and says what it knows. `unknown`: there is no response
   * of the console, so it may have been done. `login`: a login is in between, and nothing else is known.
   */
  readonly kind: "refused" | "failed" | "unknown" | "login";
}

export type CallResult<Name extends CallName> =
  | { readonly output: Output<Name>; readonly problem?: undefined }
  | { readonly output?: undefined; readonly problem: Problem };

/** A call that takes longer has no result, in milliseconds. */
const TIMEOUT = 20_000;

/** What needs no idempotency key: it changes nothing, or may be done twice. */
type Repeatable =
  | Extract<CallName, "info" | `${string}/list` | `secrets/${string}`>
  | "keys/find"
  | "keys/find-by-secret"
  | "keys/lift-ban";

/** Calls the console. Secrets are in bodies only, never in a URL. An action has an idempotency key. */
export function call<Name extends Repeatable>(
  name: Name,
  input: Input<Name>,
): Promise<CallResult<Name>>;
export function call<Name extends Exclude<CallName, Repeatable>>(
  name: Name,
  input: Input<Name>,
  idempotencyKey: string,
): Promise<CallResult<Name>>;
export async function call<Name extends CallName>(
  name: Name,
  input: Input<Name>,
  idempotencyKey?: string,
): Promise<CallResult<Name>> {
  const headers = new Headers({ "Content-Type": "application/json" });
  if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
  try {
    const response = await fetch(`api/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(input),
      // The console redirects no call: a redirect leads to a login.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
    return resultOf(response, isJson ? await response.json() : undefined);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const message = isLate
      ? `The console has not responded for ${TIMEOUT / 1_000} seconds.`
      : "The console does not respond.";
    return { problem: { message, kind: "unknown" } };
  }
}

/** Pages over plain HTTP from another machine have no `randomUUID`. */
export function newIdempotencyKey(): string {
  // eslint-disable-next-line no-restricted-properties -- The page has no host that could pass it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What is before the console may respond in its place: a proxy with an error, or a login with a page or a status. */
function resultOf<Name extends CallName>(
  { ok, status, type }: Response,
  body: unknown,
): CallResult<Name> {
  if (ok && isOutput<Name>(body)) return { output: body };
  const own = isErrorBody(body) && body.status === status ? body.message : "";
  const mayBeLogin = ok || type === "opaqueredirect" || status === 403;
  if (status === 401 || (own === "" && mayBeLogin)) {
    const message = `The login has ended. Reload this page to log in again. ${own}`.trim();
    return { problem: { message, kind: "login" } };
  }
  if (own !== "") return { problem: { message: own, kind: status < 500 ? "refused" : "failed" } };
  const message = `The console does not respond: HTTP status ${status}.`;
  return { problem: { message, kind: "unknown" } };
}

function isOutput<Name extends CallName>(body: unknown): body is Output<Name> {
  return body instanceof Object && "now" in body && typeof body.now === "number";
}

function isErrorBody(body: unknown): body is ErrorBody {
  return (
    body instanceof Object &&
    ["code", "status"].every((name) => name in body) &&
    "message" in body &&
    typeof body.message === "string"
  );
}

/** How long to wait before a call is repeated, after so many failures in a row, in milliseconds. */
const PAUSES = [2_000, 1_000, 2_000, 5_000, 10_000];

interface Latest<Name extends CallName> {
  readonly output?: Output<Name>;
  readonly input?: Input<Name>;
  readonly problem?: Problem | undefined;
}

/**
 * Repeats a call while the page is visible, also after a problem, which may pass. After a change of the input, the old
 * output stays until there is a new one, and is not `isCurrent`. `reload` calls again at once.
 */
export function usePolled<Name extends Repeatable>(name: Name, input: Input<Name>) {
  const [latest, setLatest] = useState<Latest<Name>>({});
  const reload = useRef<() => void>(() => undefined);
  const body = JSON.stringify(input);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let lastId = 0;
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (document.visibilityState === "hidden") return;
      const id = ++lastId;
      const { output, problem } = await call(name, input);
      // A later call has been sent, or the input has changed.
      if (id !== lastId) return;
      failures = problem ? failures + 1 : 0;
      setLatest((before) =>
        problem ? { ...before, problem: continued(problem) } : { output, input },
      );
      timer = setTimeout(start, PAUSES[failures] ?? PAUSES.at(-1));
    };
    const start = (): void => void run();
    reload.current = start;
    document.addEventListener("visibilitychange", start);
    start();
    return () => {
      lastId = Infinity;
      // An action may end after its page was left.
      reload.current = () => undefined;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", start);
    };
    // The text stands for the input, which is a new object at each rendering.
  }, [name, body]);

  const isCurrent = JSON.stringify(latest.input) === body;
  return { ...latest, isCurrent, reload: () => reload.current() };
}

function continued({ kind, message }: Problem): Problem {
  return { kind, message: kind === "unknown" ? `${message} This page keeps trying.` : message };
}
