import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Plan, RateLimits } from "@petstore/core";
import type { WindowName } from "@petstore/core/facts";
import { WINDOW_LIMITS, WINDOWS, type PlanFields } from "../protocol.js";
import { newIdempotencyKey, type Problem } from "./call.js";
import { Alert, Button, focusHeading, limitsText } from "./shown.js";

/**
 * A dialog over the page, as long as it is rendered. Escape calls `onClose`, unless `isLocked`. When it is gone, the
 * element that had the focus before has it again, or the heading of the page.
 */
export function Dialog({
  title,
  isLocked = false,
  onClose,
  children,
}: {
  readonly title: string;
  readonly isLocked?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key is pressed: it may be for the dialog.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      focusHeading();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onClose={({ currentTarget }) => {
        // A browser may close it at a second Escape without asking.
        if (!currentTarget.isConnected) return;
        if (isLocked) currentTarget.showModal();
        else onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** How long a button is out of reach of a double click on what stood in its place before, in milliseconds. */
const SETTLING = 1_000;

/** Whether this value is the same for a while, so that a press is meant for what is shown. */
export function useSettled(value: unknown): boolean {
  const [settled, setSettled] = useState<unknown>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLING);
    return () => clearTimeout(timer);
  }, [value]);
  return settled === value;
}

/**
 * A form in a dialog, with a button that sends it once. What cannot be undone needs a second press: `again` is the
 * text of the button then. Without a response, the same can be sent again, under the same idempotency key.
 */
export function DialogForm({
  title,
  submit,
  again,
  isReady = true,
  isDangerous = false,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  readonly submit: string;
  readonly again?: string | undefined;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  readonly onSubmit: (idempotencyKey: string) => Promise<Problem | undefined>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const [isSending, setSending] = useState(false);
  const [wasPressed, setPressed] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const idempotencyKey = useRef<string | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => setPressed(false), [again]);
  const isSettled = useSettled(wasPressed);
  const isOff = !isReady || isSending || (wasPressed && !isSettled);
  const isOpen = problem !== undefined && problem.kind !== "refused";
  const send = async (): Promise<void> => {
    // The fields are disabled meanwhile.
    button.current?.focus();
    setSending(true);
    setProblem(undefined);
    idempotencyKey.current ??= newIdempotencyKey();
    const result = await onSubmit(idempotencyKey.current);
    if (result?.kind === "refused") idempotencyKey.current = undefined;
    setProblem(result);
    setSending(false);
  };
  return (
    <Dialog title={title} isLocked={isSending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isOff) return;
          if (again !== undefined && !wasPressed) setPressed(true);
          else void send();
        }}
      >
        <fieldset disabled={isSending || isOpen}>{children}</fieldset>
        <Alert text={problem && `${problem.message}${isOpen ? REPEATABLE : ""}`} />
        <p class="buttons">
          <button
            ref={button}
            type="submit"
            class={isDangerous || again !== undefined ? "primary dangerous" : "primary"}
            aria-disabled={isOff}
          >
            {again !== undefined && wasPressed ? again : submit}
          </button>
          <Button isOff={isSending} onClick={onClose}>
            Cancel
          </Button>
        </p>
      </form>
    </Dialog>
  );
}

const REPEATABLE = " It may have been done. Press again to try again: it is not done twice.";

/** A field with its name and a hint. */
export function Field({
  name,
  hint,
  children,
}: {
  readonly name: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>
        {name} {hint !== undefined && <span class="faint">{hint}</span>}
      </span>
      {children}
    </label>
  );
}

const NO_LIMITS: RateLimits = { perMinute: NaN, perDay: NaN };

/** Chooses a plan, and the limits of the key if the plan has none of its own. */
export function PlanChoice({
  plans,
  value,
  onChange,
}: {
  readonly plans: Readonly<Record<string, Plan>>;
  readonly value: PlanFields;
  readonly onChange: (value: PlanFields) => void;
}) {
  const { plan, limits = NO_LIMITS } = value;
  const limit = (name: WindowName) => {
    const field = WINDOW_LIMITS[name];
    return (
      <Field key={name} name={`Requests per ${name}`}>
        <input
          type="number"
          required
          min={1}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          value={Number.isNaN(limits[field]) ? "" : limits[field]}
          onInput={({ currentTarget }) =>
            onChange({ plan, limits: { ...limits, [field]: currentTarget.valueAsNumber } })
          }
        />
      </Field>
    );
  };
  return (
    <>
      <Field name="Plan">
        <select
          value={plan}
          onChange={({ currentTarget }) => onChange({ plan: currentTarget.value })}
        >
          {Object.entries(plans).map(([name, each]) => (
            <option key={name} value={name}>
              {`${name} (${describe(each)})`}
            </option>
          ))}
        </select>
      </Field>
      {plans[plan] === "custom" && <div class="row">{WINDOWS.map(limit)}</div>}
    </>
  );
}

function describe(plan: Plan): string {
  if (plan === "custom") return "limits of its own";
  return limitsText(plan);
}
