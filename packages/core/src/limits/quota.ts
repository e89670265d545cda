import type { EachField } from "../validation.js";
import type { Window } from "./window.js";
import {
  limitOf,
  SHORTEST,
  windowNames,
  windows,
  type EachWindow,
  type RateLimits,
  type WindowName,
} from "./windows.js";

/** The requests that are left in a window. During a ban none are left, until the ban ends. */
export type WindowQuota = {
  /** How many requests the window admits. */
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetAt: number;
};

/** The requests that are left in each window. */
export type WindowQuotas = EachWindow<WindowQuota>;

/**
 * The requests that a caller has left (specification, "Rate limit headers"): in each window, and in the
 * one that binds, which is the one with fewest left (if equal, the one that ends last).
 */
export type Quota = WindowQuota &
  WindowQuotas & {
    /** The window whose numbers these are; `undefined` in a remote client that is not told. */
    readonly window?: WindowName | undefined;
  };

/** Returns the quota of a window under these limits. */
export function quotaOf(name: WindowName, window: Window, limits: RateLimits): WindowQuota {
  const limit = limitOf(limits, name);
  return { limit, remaining: Math.max(0, limit - window.used), resetAt: endOf(name, window) };
}

/** Returns when a window ends. */
export function endOf(name: WindowName, { openedAt }: Window): number {
  return openedAt + windows[name].milliseconds;
}

/** Returns the name of the window that binds. */
export function bindingWindow(quotas: WindowQuotas): WindowName {
  return windowNames.reduce((binding, name) => {
    const [one, other] = [quotas[binding], quotas[name]];
    const order = one.remaining - other.remaining || other.resetAt - one.resetAt;
    return order < 0 ? binding : name;
  }, SHORTEST);
}

/** Returns the quotas of all windows with that of the one that binds. */
export function withBinding(quotas: WindowQuotas, binding: WindowName): Quota {
  const { limit, remaining, resetAt } = quotas[binding];
  const { minute, day } = quotas;
  const quota: EachField<Quota> = { limit, remaining, resetAt, window: binding, minute, day };
  return quota;
}
