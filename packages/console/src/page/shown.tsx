import type { RateLimits } from "@petstore/core";
import type { WindowQuota } from "@petstore/core/facts";
import type { ComponentChildren } from "preact";
import { WINDOW_LIMITS, WINDOWS, type ShownKey, type ShownState } from "../protocol.js";

/** A label or name, whose characters cannot change what stands beside it. `none` stands for one that cannot be seen. */
export function Label({
  text,
  none = "no label",
}: {
  readonly text: string | undefined;
  readonly none?: string;
}) {
  if (text === undefined || text.trim() === "") return <span class="faint">{none}</span>;
  return <bdi class="label">{printable(text)}</bdi>;
}

/** Replaces characters that are not shown or that change the direction of text, except those that join emoji. */
function printable(text: string): string {
  return text.replace(
    /(?![\u200C-\u200D\u{E0020}-\u{E007F}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    "\uFFFD",
  );
}

/** Limits as text: "60 a minute, 1,000 a day". */
export function limitsText(limits: RateLimits): string {
  return WINDOWS.map((name) => `${limits[WINDOW_LIMITS[name]].toLocaleString()} a ${name}`).join(
    ", ",
  );
}

/** A name as it stands in a heading. */
export function titled(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** A time in the browser's zone, which is named: on the same day, without the date. */
export function Time({ at, now }: { readonly at: number; readonly now: number }) {
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

/** The latest time that a `Date` can represent. */
const LAST_TIME = 8_640_000_000_000_000;

/** How long until a time, in the largest unit that fits. */
export function until(at: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((at - now) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.ceil(seconds / 3_600)} h`;
  return `${Math.ceil(seconds / 86_400)} days`;
}

/** How much of a window is used: a bar, the numbers and the time of reset. */
export function Usage({
  name,
  quota: { limit, remaining, resetAt },
  now,
}: {
  readonly name: string;
  readonly quota: WindowQuota;
  readonly now: number;
}) {
  const used = limit - remaining;
  const text = `${used.toLocaleString()} of ${limit.toLocaleString()}`;
  return (
    <span class="usage">
      <span
        class={remaining === 0 ? "bar full" : used >= limit * NEARLY ? "bar nearly" : "bar"}
        role="meter"
        aria-label={`${name}: ${text} used`}
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

/** From which share of a limit on the bar warns. */
const NEARLY = 0.75;

/** The states of a key, each with its time. */
export function States({ shown, now }: { readonly shown: ShownKey; readonly now: number }) {
  return (
    <span class="states">
      {shown.states.map((state) => (
        <span key={state} class={`state ${state}`}>
          {textOf[state](shown, now)}
        </span>
      ))}
    </span>
  );
}

const textOf: Readonly<Record<ShownState, (key: ShownKey, now: number) => preact.ComponentChild>> =
  {
    active: () => "active",
    expiring: ({ expiresAt }, now) => (
      <>
        expires <Time at={expiresAt ?? now} now={now} />
      </>
    ),
    replaced: ({ secrets }, now) => {
      const ends = secrets.map(({ name, at = now }) => (name === "replaced" ? at : now));
      return (
        <>
          old secret until <Time at={Math.max(...ends)} now={now} />
        </>
      );
    },
    banned: ({ bannedUntil = 0 }, now) => (
      <>
        banned until <Time at={bannedUntil} now={now} />
      </>
    ),
    expired: ({ expiresAt }, now) => (
      <>
        expired <Time at={expiresAt ?? now} now={now} />
      </>
    ),
    revoked: ({ revokedAt }, now) => (
      <>
        revoked <Time at={revokedAt ?? now} now={now} />
      </>
    ),
  };

/** Leads to other pages of a list. A direction without a function has no page. */
export function Pager({
  text,
  previous,
  next,
}: {
  readonly text: string;
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}) {
  return (
    <nav class="pager" aria-label="Pages">
      <span role="status">{text}</span>
      <Button isOff={previous === undefined} onClick={previous}>
        Previous
      </Button>
      <Button isOff={next === undefined} onClick={next}>
        Next
      </Button>
    </nav>
  );
}

/** A message that a screen reader announces. */
export function Alert({ text }: { readonly text: string | undefined }) {
  return <div role="alert">{text !== undefined && <p class="alert">{text}</p>}</div>;
}

/** A button. One that is off keeps the focus, and a press has no effect. */
export function Button({
  kind = "",
  isOff = false,
  onClick,
  children,
}: {
  readonly kind?: string;
  readonly isOff?: boolean;
  readonly onClick: (() => void) | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class={kind} aria-disabled={isOff} onClick={isOff ? undefined : onClick}>
      {children}
    </button>
  );
}

/** Gives the focus to the heading of the page, if no element has it. */
export function focusHeading(): void {
  const heading = document.querySelector("h1");
  if (heading === null || document.activeElement !== document.body) return;
  heading.tabIndex = -1;
  heading.focus();
}
