import { err, ResultAsync, type Result } from "neverthrow";
import { sendOnce, type Attempt } from "./attempt.js";
import { startWait } from "./clock.js";
import { isLimitError, limitUsedUp, unexpectedResponse, unreachable } from "./errors.js";
import type { Refusal } from "./gate.js";
import { createOnAbort, startLifetime, type Lifetime, type OnAbort } from "./lifetime.js";
import { operationsOf } from "./operations.js";
import type { CallOptions, Operation, PetsClient } from "./operations.js";
import { notNegative, parseOptions } from "./options.js";
import type { ClientEvent, PetsClientOptions, Settings } from "./options.js";
import { createQueue, type Queue } from "./queue.js";
import { drawFraction } from "./random.js";
import type { Head } from "./wire/head.js";
import { readResponse, type RemoteResult } from "./wire/responses.js";

/**
 * Creates a client. Create one for each API key, and keep it: its gate knows how many requests are left.
 *
 * ```ts
 * const pets = createPetsClient({ baseUrl: "http://127.0.0.1:3000/v1", apiKey });
 * const listed = await pets.listPets({ status: "available" });
 * ```
 * @throws TypeError that names the option, if one is wrong, or if the URL or the key is missing.
 */
export function createPetsClient(options: PetsClientOptions): PetsClient {
  const settings = parseOptions(options);
  const { clock, random, maxInFlight, onEvent } = settings;
  // A listener cannot make a call fail, nor the process by a rejection.
  const emit = (event: ClientEvent): void =>
    void new Promise((resolve) => resolve(onEvent(event))).catch(() => undefined);
  const queue = createQueue(clock, maxInFlight);
  const context: CallContext = { ...settings, emit, queue, onAbort: createOnAbort() };
  return operationsOf(
    (operation, options) => new ResultAsync(call(context, operation, options)),
    random,
  );
}

interface CallContext extends Settings {
  readonly queue: Queue;
  readonly emit: (event: ClientEvent) => void;
  readonly onAbort: OnAbort;
}

/** A request with one of these statuses is sent again, like a request without a response. */
const TRANSIENT: readonly number[] = [500, 502, 503, 504];

/** The longest wait between two attempts, in milliseconds, unless Retry-After is longer. */
const LONGEST_BACKOFF = 60_000;

/** The longest random addition to a wait after a 429, in milliseconds. */
const JITTER = 1_000;

/** Performs an operation: waits for the gate, sends the request, and retries what may be transient. */
async function call<T extends object, Code extends string>(
  context: CallContext,
  operation: Operation<T, Code>,
  options: CallOptions | undefined,
): Promise<RemoteResult<T, Code>> {
  // Without types, a caller may pass null for nothing.
  const seconds = options?.deadlineSeconds ?? context.deadlineSeconds;
  let lifetime: Lifetime | undefined;
  try {
    notNegative("deadlineSeconds", Math.max(0, seconds));
    lifetime = startLifetime(context.clock, seconds, options?.signal, context.onAbort);
    return await callUntil(lifetime, context, operation);
  } catch (cause) {
    // An option that is not what its type says, such as a signal that is none.
    return err(unreachable(cause));
  } finally {
    lifetime?.stop();
  }
}

async function callUntil<T extends object, Code extends string>(
  lifetime: Lifetime,
  context: CallContext,
  operation: Operation<T, Code>,
): Promise<RemoteResult<T, Code>> {
  const { clock, queue, emit } = context;
  const { name, facts, readResult } = operation;
  const waiting = (seconds: number): void => emit({ type: "waiting", operation: name, seconds });

  let wasRefused = false;
  for (let attempt = 1; ;) {
    const entered = await queue.enter(lifetime, wasRefused, waiting);
    if (entered.isErr()) return err(entered.error);
    const sent = await send(context, operation, attempt, lifetime);
    const outcome = sent.response.andThen((whole) => readResponse(whole, facts, readResult));
    leave(context, entered.value, sent, outcome);

    const ending = lifetime.ending();
    if (ending !== undefined) return outcome.isOk() ? outcome : err(ending);
    // The gate is closed now, and knows whether the call can wait.
    wasRefused = sent.head?.status === 429;
    if (wasRefused) continue;
    if (outcome.isOk() || attempt === context.attempts || !isTransient(sent)) return outcome;

    const wait = backoff(context, attempt, sent);
    if (clock.now() + wait > lifetime.endsAt) return outcome;
    const { code } = outcome.error;
    emit({ type: "retrying", operation: name, attempt, code, seconds: wait / 1_000 });
    const { passed, stop } = startWait(clock, wait);
    await Promise.race([passed, lifetime.ended]);
    stop();
    attempt += 1;
  }
}

async function send(
  context: CallContext,
  { name, facts, path, headers, body }: Operation,
  attempt: number,
  lifetime: Lifetime,
): Promise<Attempt> {
  const { clock, baseUrl, authorization, emit } = context;
  const start = clock.now();
  emit({ type: "request", operation: name, attempt });
  const all = { Accept: "application/json", ...headers, Authorization: authorization };
  const init = { method: facts.method, headers: all, ...(body === undefined ? {} : { body }) };
  const sent = await sendOnce(context, baseUrl + path, init, lifetime);
  const { status, requestId, sunset } = sent.head ?? {};
  const milliseconds = clock.now() - start;
  emit({ type: "response", operation: name, attempt, status, requestId, milliseconds });
  if (sunset !== undefined) emit({ type: "deprecated_operation_used", operation: name, sunset });
  return sent;
}

/** Passes the quota of the response to the gate, and the refusal that waiting calls get if it closes. */
function leave(
  { queue, random }: CallContext,
  number: number,
  { head }: Attempt,
  outcome: Result<unknown, { readonly code: string }>,
): void {
  const { status = 0, resetIn = 0, retryAfter = 0 } = head ?? {};
  // A server that fails may not know the key: then the quota is that of the client's address.
  const quota = status < 500 ? head?.quota : undefined;
  const wait = status === 429 ? { retryAfter, jitter: drawFraction(random) * JITTER } : undefined;
  const isLimit = outcome.isErr() && isLimitError(outcome.error);
  const refusal = isLimit ? outcome.error : head && refusalFrom(head);
  queue.leave({ number, quota, resetIn, wait, refusal });
}

/** Returns the refusal that follows from the quota of a response, or from a 429 without an Error body. */
function refusalFrom({ status, quota, requestId }: Head): Refusal | undefined {
  if (quota !== undefined) return limitUsedUp(quota);
  return status === 429 ? unexpectedResponse("It refuses requests.", 429, requestId) : undefined;
}

function isTransient({ head, response }: Attempt): boolean {
  if (head !== undefined && TRANSIENT.includes(head.status)) return true;
  const code = response.isErr() && response.error.code;
  return code === "unreachable" || code === "timed_out";
}

/** Exponential backoff with full jitter, but not before Retry-After. */
function backoff({ backoffSeconds, random }: CallContext, attempt: number, sent: Attempt): number {
  const longest = Math.min(backoffSeconds * 1_000 * 2 ** (attempt - 1), LONGEST_BACKOFF);
  return Math.max(drawFraction(random) * longest, sent.head?.retryAfter ?? 0);
}
