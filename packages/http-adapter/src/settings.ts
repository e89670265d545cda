import { harmless } from "./host-callback.js";

/** What every transport of the adapter can be given; everything has a default. */
export interface HttpOptions {
  /**
   * The path that the store lives under: segments without a trailing slash, or `""` for everything
   * that arrives. `/v1` when left out (specification, "Versioning").
   */
  readonly basePath?: string | undefined;
  /** How many bytes a body has at most; 65,536 when left out. Longer ones are answered 413. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How many seconds a body has to arrive once it is asked for; 10 when left out. Slower ones are
   * answered 408, and the connection is closed.
   */
  readonly maxBodySeconds?: number | undefined;
  /**
   * Told what stays hidden from clients: the cause of every 503 `storage_unavailable` and of every
   * 500 `internal_error`. What it throws, or rejects with, is ignored.
   */
  readonly onError?: ((cause: unknown) => void) | undefined;
}

/** The options, checked and complete. */
export interface HttpSettings {
  readonly basePath: string;
  readonly maxBodyBytes: number;
  readonly maxBodySeconds: number;
  readonly onError: (cause: unknown) => void;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseHttpSettings(options: HttpOptions): HttpSettings {
  const { basePath = "/v1", maxBodyBytes = 65_536, maxBodySeconds = 10 } = options;
  const { onError = ignore } = options;
  must(isBasePath(basePath), "basePath", 'must be "" or like /v1: segments, no trailing slash');
  must(isByteCount(maxBodyBytes), "maxBodyBytes", "must be a positive integer");
  must(isSeconds(maxBodySeconds), "maxBodySeconds", "must be above 0 and at most 86,400");
  must(typeof onError === "function", "onError", "must be a function");
  return Object.freeze({
    basePath,
    maxBodyBytes,
    maxBodySeconds,
    onError: harmless(onError, ignore),
  });
}

/** Throws a TypeError that names the option, unless the rule holds. */
export function must(holds: boolean, option: string, rule: string): void {
  if (!holds) throw new TypeError(`@petstore/http-adapter: option ${option} ${rule}`);
}

const OPTIONS = ["basePath", "maxBodyBytes", "maxBodySeconds", "onError", "origin"];

/** Throws a TypeError unless these are options, with no other names than those of every transport and `more`. */
export function mustBeOptions(options: unknown, more: readonly string[] = []): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("@petstore/http-adapter: the options must be an object");
  }
  const known = [...OPTIONS, ...more];
  for (const name of Object.keys(options)) {
    must(known.includes(name), name, `is unknown; known are ${known.join(", ")}`);
  }
}

// RFC 3986, section 3.3. Dot segments would never arrive: clients resolve them away.
const SEGMENTS = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@%-]+)*$/;

function isBasePath(value: unknown): boolean {
  return typeof value === "string" && SEGMENTS.test(value);
}

function isByteCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

/** A day at most: a timer beyond 2^31 milliseconds would fire at once. */
function isSeconds(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value <= 86_400;
}

function ignore(): void {
  // Nobody asked to be told, or nobody is left to be.
}
