import type { Clock, PetStore } from "@petstore/core";
import { contained, checkedOptions, systemClock } from "@petstore/core/internal";
import { fromThrowable } from "neverthrow";
import * as v from "valibot";
import { createCors, type CorsOptions } from "./response/cors.js";
import { createRender } from "./response/render.js";
import { createReports, type ResponseReport } from "./response/report.js";

export interface HttpOptions {
  /** Segments without a trailing slash, or `""` for all paths. Default: `/v1` (specification, "Versioning"). */
  readonly basePath?: string | undefined;
  /** The longest body, in bytes: from 1; longer ones get 413. Default: 65,536. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The longest time that a body may take to arrive once the store reads it, in seconds; after it, the response is 408
   * and the connection is closed. Above 0, at most 86,400. Default: 10.
   */
  readonly maxBodySeconds?: number | undefined;
  /**
   * Receives the cause of every 503 `storage_unavailable` and every 500 `internal_error`, which clients do not see, and
   * an error, once, when a request has come through a proxy, and no option says which proxy may name the client. Its own
   * errors are ignored. Default: nothing receives them.
   */
  readonly onError?: ((cause: unknown) => void) | undefined;
  /**
   * Called once for each request, when its response is sent or its client has disconnected: for a log or metrics. Its
   * own errors go to `onError`. Default: not called.
   */
  readonly onResponse?: ((report: ResponseReport) => void) | undefined;
  /**
   * Whether responses have an `X-Request-Id`: the client's own if it is safe to repeat, or a new one. Default: false;
   * `createPetStoreServer` always sends it.
   */
  readonly requestIds?: boolean | undefined;
  /**
   * Lets pages of these origins call the store from a browser (Fetch standard, "CORS protocol"). Preflights cost nothing.
   * Default: off, so that browsers let only pages of the same origin read responses.
   */
  readonly cors?: CorsOptions | undefined;
  /** Also sends the fields of draft-ietf-httpapi-ratelimit-headers-11, with each window. Default: off. */
  readonly rateLimitFields?: "draft-11" | undefined;
  /** The clock for the milliseconds of a report. Default: the system's clock. */
  readonly clock?: Clock | undefined;
}

export type HttpSettings = ReturnType<typeof parseOptions>;

/** RFC 3986, section 3.3. Dot segments are not allowed, because clients resolve them. */
const SEGMENTS = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@%-]+)*$/;
const BASE_PATH = 'must be "" or like /v1: segments, no trailing slash';
/** The longest time of a timer, in milliseconds: Node fires a longer one at once. */
export const LONGEST_TIMER = 2_147_483_647;
const ORIGINS = 'must be "*" or a list of origins like https://shop.example';

/** Whether a text is an origin as browsers send it: no path, no wildcard, and in lower case. */
export function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

const aFunction = v.function("must be a function");
const anOrigin = v.pipe(v.string(), v.check(isOrigin, ORIGINS));
const aClock = v.object({ now: aFunction }, "must be a clock");

const numberThat = (holds: (value: number) => boolean, message: string) =>
  v.pipe(v.number(message), v.check(holds, message));

function strict<Entries extends v.ObjectEntries>(entries: Entries) {
  const known = Object.keys(entries).join(", ");
  return v.strictObject(entries, ({ expected }) =>
    expected === "never" ? `is unknown; known are ${known}` : "must be an object",
  );
}

const common = {
  basePath: v.optional(v.pipe(v.string(BASE_PATH), v.regex(SEGMENTS, BASE_PATH)), "/v1"),
  maxBodyBytes: v.optional(
    numberThat((bytes) => Number.isSafeInteger(bytes) && bytes > 0, "must be a positive integer"),
    65_536,
  ),
  maxBodySeconds: v.optional(
    numberThat((seconds) => seconds > 0 && seconds <= 86_400, "must be above 0 and at most 86,400"),
    10,
  ),
  onError: v.optional(aFunction),
  onResponse: v.optional(aFunction),
  clientAddress: v.optional(aFunction),
  clock: v.optional(aClock),
  cors: v.optional(strict({ origins: v.union([v.literal("*"), v.array(anOrigin)], ORIGINS) })),
  rateLimitFields: v.optional(v.literal("draft-11", 'must be "draft-11"')),
};

const forGuests = strict({
  ...common,
  requestIds: v.optional(v.boolean("must be true or false")),
});

const seconds = numberThat(
  (value) => value >= 0 && value <= 2_147_483,
  "must be from 0 to 2,147,483",
);
const int31 = numberThat(
  (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 31,
  "must be an integer from 0 to 2,147,483,647",
);

export const limitSchema = strict({
  headersTimeoutSeconds: v.optional(seconds, 8),
  requestTimeoutSeconds: v.optional(seconds, 12),
  connectionsCheckingIntervalSeconds: v.optional(seconds, 0.5),
  keepAliveTimeoutSeconds: v.optional(seconds, 5),
  timeoutSeconds: v.optional(seconds, 30),
  maxHeaderSize: v.optional(int31, 16_384),
});

export const forServers = strict({
  ...common,
  fallback: v.optional(aFunction),
  limits: v.optional(limitSchema),
});

const aStore = v.object({ as: aFunction, anonymousQuota: aFunction, clock: aClock });

/**
 * Checks the store and the options of a handler, a mount or a server, and completes the options.
 * @throws TypeError that names the option, if one is wrong or unknown.
 */
export function parseOptions(
  store: PetStore,
  options: HttpOptions,
  schema: typeof forGuests | typeof forServers = forGuests,
) {
  if (!v.is(aStore, store)) {
    throw new TypeError("@petstore/http-adapter: the store must be a store of createPetStore");
  }
  const parsed = v.safeParse(schema, options, { abortEarly: true });
  const { clientAddress, cors, ...checked } = checkedOptions("@petstore/http-adapter", parsed);
  const onError = contained(options.onError);
  const onResponse = options.onResponse && contained(options.onResponse, onError);
  const source = options.clock ?? systemClock;
  const readClock = fromThrowable(() => source.now());
  const clock = { now: () => readClock().orTee(onError).unwrapOr(systemClock.now()) };
  const hasRequestIds = schema === forServers || options.requestIds === true;
  return {
    ...checked,
    onError,
    /** Whether the host has said what tells callers without a valid key apart. */
    hasClientAddress: clientAddress !== undefined,
    startReport: createReports(onResponse, hasRequestIds, clock, checked.basePath),
    cors: cors && createCors(cors),
    render: createRender(options.rateLimitFields !== undefined, store.clock),
    clock,
    /** While it returns true, every response of Node closes its connection. */
    isDraining: (): boolean => false,
  };
}
