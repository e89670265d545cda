import type { RateLimits } from "@petstore/core";
import { limitsIn, replaceUnprintable, windowNames } from "@petstore/core/facts";
import type { WindowName, WindowQuota } from "@petstore/core/facts";
import type { ShownKey, ShownState } from "../protocol.js";
import type { Column } from "./controls.js";

/** A label or name, whose characters cannot change what stands beside it; `none` if it cannot be seen. */
export function Label(props: { readonly text: string | undefined; readonly none?: string }) {
  const { text, none = "no label" } = props;
  if (text === undefined || text.trim() === "") return <span class="faint">{none}</span>;
  return <bdi class="label">{replaceUnprintable(text)}</bdi>;
}

/** Limits as text: "60 per minute, 1,000 per day". */
export function limitsText(limits: Partial<RateLimits>): string {
  return limitsIn(limits)
    .map(([window, limit]) => `${limit.toLocaleString()} per ${window}`)
    .join(", ");
}

/** A time in the browser's zone, which is named: on the same day, without the date. */
export function Time({ at, now }: { readonly at: number | undefined; readonly now: number }) {
  if (at === undefined) return <span class="faint">never</span>;
  const date = new Date(Math.min(at, LAST_TIME));
  const today = new Date(now);
  const isToday = date.toDateString() === today.toDateString();
  const format: Intl.DateTimeFormatOptions = isToday
    ? { hour: "numeric", minute: "2-digit", second: "2-digit" }
    : { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
  if (date.getFullYear() !== today.getFullYear()) format.year = "numeric";
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {date.toLocaleString(undefined, { ...format, timeZoneName: "short" })}
    </time>
  );
}

const LAST_TIME = 8_640_000_000_000_000;

function until(at: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((at - now) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.ceil(seconds / 3_600)} h`;
  return `${Math.ceil(seconds / 86_400)} days`;
}

/** From which share of a limit on the bar warns. */
const NEARLY = 0.75;

function usageOf(window: string, { limit, remaining, resetAt }: WindowQuota, now: number) {
  const used = limit - remaining;
  const text = `${used.toLocaleString()} of ${limit.toLocaleString()}`;
  const bar = used >= limit * NEARLY ? "bar nearly" : "bar";
  return (
    <span class="usage">
      <span
        class={remaining === 0 ? "bar full" : bar}
        role="meter"
        aria-label={`${window}: ${text} used`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={used}
      >
        <span style={{ width: `${(used / limit) * 100}%` }} />
      </span>
      <span class="numbers">{text}</span>
      <span class="faint">
        {used === 0 ? (
          "unused"
        ) : (
          <>
            resets <Time at={resetAt} now={now} />{" "}
            <span class="numbers">(in {until(resetAt, now)})</span>
          </>
        )}
      </span>
    </span>
  );
}

export const USAGE = windowNames.map((name: WindowName): Column<ShownKey> => {
  const heading = name.slice(0, 1).toUpperCase() + name.slice(1);
  return {
    heading,
    cell: ({ usage: { [name]: quota } }, now) => quota && usageOf(heading, quota, now),
  };
});

export const LAST_USE: Column<ShownKey> = {
  heading: "Last use",
  cell: ({ lastUsedAt }, now) => <Time at={lastUsedAt} now={now} />,
};

export const STATES: Column<ShownKey> = {
  heading: "State",
  cell: (key, now) => (
    <span class="states">
      {key.states.map((state) => {
        const [text, at] = stateOf[state](key);
        return (
          <span key={state} class={`state ${state}`}>
            {text} {at !== undefined && <Time at={at} now={now} />}
          </span>
        );
      })}
    </span>
  ),
};

const stateOf: Readonly<
  Record<ShownState, (key: ShownKey) => readonly [text: string, at?: number | undefined]>
> = {
  active: () => ["active"],
  expiring: ({ expiresAt }) => ["expires", expiresAt],
  replaced: ({ secrets }) => {
    const ends = secrets.map(({ name, at = 0 }) => (name === "replaced" ? at : 0));
    return ["old secret until", Math.max(...ends)];
  },
  banned: ({ bannedUntil }) => ["banned until", bannedUntil],
  expired: ({ expiresAt }) => ["expired", expiresAt],
  revoked: ({ revokedAt }) => ["revoked", revokedAt],
};
