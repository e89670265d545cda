import { mustBeOrigin } from "../host-callback.js";
import {
  must,
  mustBeOptions,
  parseHttpSettings,
  type HttpOptions,
  type HttpSettings,
} from "../settings.js";

/**
 * What the `fetch` handler can be given; everything has a default. `Host` are the arguments that the
 * host calls the handler with beside the request.
 */
export interface FetchOptions<
  Host extends readonly unknown[] = readonly unknown[],
> extends HttpOptions {
  /**
   * Tells callers without a valid key apart. A `Request` knows no address, so that without this, or when
   * it throws or answers no text, all such callers share one bucket: give it where the host knows the address,
   * from what it hands over beside the request.
   */
  readonly origin?: ((request: Request, ...host: Host) => string | undefined) | undefined;
}

/** The options, checked and complete. */
export interface FetchSettings<Host extends readonly unknown[]> extends HttpSettings {
  readonly origin: (request: Request, ...host: Host) => string | undefined;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseFetchSettings<Host extends readonly unknown[]>(
  options: FetchOptions<Host>,
): FetchSettings<Host> {
  mustBeOptions(options);
  const { origin = () => undefined, ...others } = options;
  const settings = parseHttpSettings(others);
  must(typeof origin === "function", "origin", "must be a function");
  return Object.freeze({
    ...settings,
    origin: (request: Request, ...host: Host) => {
      try {
        return mustBeOrigin(origin(request, ...host), settings.onError);
      } catch (cause) {
        settings.onError(cause);
        return undefined;
      }
    },
  });
}
