import { keysOf, type EachField } from "../validation/fields.js";

/**
 * The windows in which requests are counted (specification, "Rate limits by plan"), from the shortest to the longest.
 * Every other mention of a window derives from this table, or does not compile if it lacks one. A plan may leave out the
 * limit of a window with `isOptional: true`, which is then unlimited.
 */
export const windows = {
  minute: { milliseconds: 60_000, limit: "perMinute" },
  day: { milliseconds: 86_400_000, limit: "perDay" },
} as const satisfies Readonly<Record<string, WindowFacts>>;

interface WindowFacts {
  readonly milliseconds: number;
  readonly limit: `per${string}`;
  readonly isOptional?: true;
}

export type WindowName = keyof typeof windows;

export type EachWindow<T> = Readonly<Record<WindowName, T>>;

export type EachLimited<T> = {
  readonly [Name in WindowName as Exclude<Name, OptionalWindow>]: T;
} & { readonly [Name in WindowName as Extract<Name, OptionalWindow>]?: T };

type OptionalWindow = {
  [Name in WindowName]: (typeof windows)[Name] extends { readonly isOptional: true } ? Name : never;
}[WindowName];

/** How many requests a key may make in each window. All limits are positive safe integers and apply at once. */
export type RateLimits = {
  readonly [Name in Exclude<WindowName, OptionalWindow> as (typeof windows)[Name]["limit"]]: number;
} & {
  readonly [Name in OptionalWindow as (typeof windows)[Name]["limit"]]?: number | undefined;
};

export const windowNames: readonly WindowName[] = keysOf(windows);

export const SHORTEST: WindowName = "minute";

export function eachWindow<T>(
  of: (name: WindowName, facts: (typeof windows)[WindowName]) => T,
): EachWindow<T> {
  return { minute: of("minute", windows.minute), day: of("day", windows.day) };
}

/** Returns a copy without the windows in which requests are not limited. */
export function onlyLimited<T extends { limit: number }>(all: EachWindow<T>): EachLimited<T> {
  return { minute: all.minute, day: all.day } satisfies EachWindow<T>;
}

export function limitsOnly({ perMinute, perDay }: RateLimits): RateLimits {
  return Object.freeze({ perMinute, perDay } satisfies EachField<RateLimits>);
}

export function isOptional(name: WindowName): boolean {
  return "isOptional" in windows[name];
}

export function limitsIn(limits: Partial<RateLimits>): readonly (readonly [WindowName, number])[] {
  const all = windowNames.map((name) => [name, limitOf(limits, name)] as const);
  return all.filter(([, limit]) => limit < Infinity);
}

export function limitOf(limits: Partial<RateLimits>, name: WindowName): number {
  return limits[windows[name].limit] ?? Infinity;
}

/** Compares what is left in two windows: the one that binds comes first. */
export function byBinding(one: Left, other: Left): number {
  return one.remaining - other.remaining || other.resetAt - one.resetAt;
}

type Left = Readonly<Record<"remaining" | "resetAt", number>>;
