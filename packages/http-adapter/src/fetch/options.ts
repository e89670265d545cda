import { must, parseHttpSettings, type HttpOptions, type HttpSettings } from "../settings.js";

/** What the `fetch` handler can be given; everything has a default. */
export interface FetchOptions extends HttpOptions {
  /**
   * Tells callers without a valid key apart. A `Request` knows no address, so that without this, or
   * when it throws, all such callers share one bucket: give it where the host knows the address.
   */
  readonly origin?: ((request: Request) => string | undefined) | undefined;
}

/** The options, checked and complete. */
export interface FetchSettings extends HttpSettings {
  readonly origin: (request: Request) => string | undefined;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseFetchSettings(options: FetchOptions): FetchSettings {
  const { origin = () => undefined, ...others } = options;
  const settings = parseHttpSettings(others);
  must(typeof origin === "function", "origin", "must be a function");
  return Object.freeze({
    ...settings,
    origin: (request: Request) => {
      try {
        return origin(request);
      } catch (cause) {
        settings.onError(cause);
        return undefined;
      }
    },
  });
}
