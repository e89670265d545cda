import type { ApiKey, PetStoreEvent } from "@petstore/core";
import { contained, checkedOptions } from "@petstore/core/internal";
import * as v from "valibot";

/** An action that was taken on the console, and who took it. */
export type ConsoleEvent = Extract<
  PetStoreEvent,
  { readonly key: ApiKey } | { readonly type: "pet_created" }
> & { readonly actor: string };

export interface ConsoleOptions {
  /** The path that the console lives under, such as `/ops/keys`; `"/console"` by default. */
  readonly basePath?: string | undefined;
  /** Who uses the console: a name, or a function that returns the one of a request; `"operator"` by default. */
  readonly actor?: string | ((request: Request) => string) | undefined;
  /** Receives each action that has changed something, for an audit log. What it throws goes to `onError`. Not called by default. */
  readonly onEvent?: ((event: ConsoleEvent) => void) | undefined;
  /** Receives the cause of each 500 and 503, which the page does not show. Nothing receives it by default. */
  readonly onError?: ((cause: unknown) => void) | undefined;
  /** The base URL of the store for its clients, for the curl line of a new key; `http://127.0.0.1:3000/v1` by default. */
  readonly baseUrl?: string | undefined;
}

/** The options, checked and complete. No path or URL ends in a slash. */
export type Settings = ReturnType<typeof parseSettings>;

const isFunction = (value: unknown): boolean => typeof value === "function";

const optionsSchema = v.strictObject(
  {
    basePath: v.optional(
      v.pipe(v.string(), v.regex(/^(?:\/[\w.~-]+)*\/?$/, "must be a path such as /console")),
      "/console",
    ),
    actor: v.optional(v.union([v.string(), v.custom<(request: Request) => string>(isFunction)])),
    onEvent: v.optional(v.custom<(event: ConsoleEvent) => void>(isFunction, "must be a function")),
    onError: v.optional(v.custom<(cause: unknown) => void>(isFunction, "must be a function")),
    baseUrl: v.optional(v.pipe(v.string(), v.url("must be a URL")), "http://127.0.0.1:3000/v1"),
  },
  "is unknown",
);

export function parseSettings(options: ConsoleOptions) {
  const checked = checkedOptions("createConsole", v.safeParse(optionsSchema, options));
  const { basePath, actor = "operator", onEvent, onError, baseUrl } = checked;
  const report = contained(onError);
  return Object.freeze({
    basePath: basePath.replace(/\/$/, ""),
    actor: (request: Request) => (typeof actor === "string" ? actor : actor(request)),
    // The action was taken, and its result may hold a secret that is shown only now.
    onEvent: contained(onEvent, report),
    onError: report,
    baseUrl: baseUrl.replace(/\/$/, ""),
  });
}
