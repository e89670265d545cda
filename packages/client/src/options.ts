import type { OperationName } from "@petstore/core/facts";
import { fromThrowable } from "neverthrow";
import { createSystemClock, type ClientClock } from "./clock.js";
import { systemRandom, type RandomSource } from "./random.js";

/** Sends a request: a `fetch`, also of npm's undici, or `createFetchHandler`. `init` has what the request has. */
export type Fetch = (request: Request, init: RequestInit) => Promise<Response>;

/** An event of a client. A union closed on `type`; no event contains an API key. */
export type ClientEvent = {
  [Type in keyof EventFields]: {
    readonly type: Type;
    readonly operation: OperationName;
  } & EventFields[Type];
}[keyof EventFields];

type EventFields = {
  /** A request is sent. `attempt` is 1 for the first attempt; a request after a 429 belongs to the same one. */
  readonly request: { readonly attempt: number };
  /** A request has ended. */
  readonly response: {
    readonly attempt: number;
    /** The HTTP status; `undefined` without a response. */
    readonly status: number | undefined;
    /** The `X-Request-Id` of the response. */
    readonly requestId: string | undefined;
    readonly milliseconds: number;
  };
  /** A call waits for the gate: until it opens in so many seconds, or, if they are 0, for the end of another call. */
  readonly waiting: { readonly seconds: number };
  /** A call will send its request again. `attempt` is the one that failed, and `code` that of its error. */
  readonly retrying: { readonly attempt: number; readonly code: string; readonly seconds: number };
  /** Deprecated. `sunset` is when it is to be removed (RFC 8594), or `""` if the response does not say. */
  readonly deprecated_operation_used: { readonly sunset: string };
};

/** The options of a client; all but the first two have a default. */
export interface PetsClientOptions {
  /** The absolute URL of the service, with its version, such as `http://127.0.0.1:3000/v1`; without user, query and fragment. */
  readonly baseUrl: string;
  /** The API key: visible ASCII characters. */
  readonly apiKey: string;
  /** How many requests may be in flight at most: from 1. Default: 8. */
  readonly maxInFlight?: number | undefined;
  /** How often a request is sent at most: from 1. Default: 3. A 429 does not count. */
  readonly attempts?: number | undefined;
  /** The longest time for one attempt, including the body, in seconds: from 0. Default: 10. */
  readonly attemptSeconds?: number | undefined;
  /** The longest time for a call with all waits, in seconds: from 0. Default: 60. Each call can have its own. */
  readonly deadlineSeconds?: number | undefined;
  /** The longest wait before the second attempt, in seconds; it doubles with each further one, to a minute. Default: 0.5. */
  readonly backoffSeconds?: number | undefined;
  /** The longest response body, in bytes: from 1; a longer one is `unexpected_response`. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Receives each event of the client, for a log or metrics. Its own errors and rejections are ignored. Default: not called. */
  readonly onEvent?: ((event: ClientEvent) => unknown) | undefined;
  /** Sends requests. Default: the platform's `fetch`. For tests: `createFetchHandler(store)`. */
  readonly fetch?: Fetch | undefined;
  /** The source of time and of timers. Default: the machine's. For tests: `createManualClock()`. */
  readonly clock?: ClientClock | undefined;
  /** The source of idempotency keys and of random waits. Default: `crypto.getRandomValues`. */
  readonly random?: RandomSource | undefined;
}

export type Settings = ReturnType<typeof parseOptions>;

/** @throws TypeError that names the option, if one is wrong. */
export function parseOptions(options: PetsClientOptions) {
  const { baseUrl, apiKey } = options;
  check("baseUrl", isBaseUrl(baseUrl), "must be an http(s) URL without user, query or fragment");
  check("apiKey", isApiKey(apiKey), "must be visible ASCII characters");
  return {
    baseUrl: baseUrl.replace(/\/$/, ""),
    authorization: `Bearer ${apiKey}`,
    maxInFlight: atLeastOne("maxInFlight", options.maxInFlight ?? 8),
    attempts: atLeastOne("attempts", options.attempts ?? 3),
    attemptSeconds: notNegative("attemptSeconds", options.attemptSeconds ?? 10),
    deadlineSeconds: notNegative("deadlineSeconds", options.deadlineSeconds ?? 60),
    backoffSeconds: notNegative("backoffSeconds", options.backoffSeconds ?? 0.5),
    maxResponseBytes: atLeastOne("maxResponseBytes", options.maxResponseBytes ?? 2 ** 24),
    onEvent: options.onEvent ?? (() => undefined),
    fetch: options.fetch ?? globalThis.fetch,
    clock: options.clock ?? createSystemClock(),
    random: options.random ?? systemRandom,
  };
}

const isApiKey = (key: unknown): boolean => typeof key === "string" && /^[\x21-\x7e]+$/.test(key);

function isBaseUrl(text: unknown): boolean {
  // The URL parser removes spaces, and an empty query or fragment, but a path after them would be another one.
  if (typeof text !== "string" || /[\s?#\\]/.test(text)) return false;
  // Not `URL.canParse`: browsers had `fetch` long before it.
  return fromThrowable(() => new URL(text))()
    .map((url) => /^https?:$/.test(url.protocol) && url.username + url.password === "")
    .unwrapOr(false);
}

function atLeastOne(name: string, value: number): number {
  check(name, Number.isSafeInteger(value) && value >= 1, "must be an integer above 0");
  return value;
}

/** @throws TypeError that names the option, if the value is another one. */
export function notNegative(name: string, value: number): number {
  check(name, value >= 0, "must be at least 0");
  return value;
}

function check(name: string, isRight: boolean, problem: string): void {
  if (!isRight) throw new TypeError(`@petstore/client: option ${name} ${problem}`);
}
