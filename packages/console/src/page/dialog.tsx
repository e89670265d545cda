import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Plan } from "@petstore/core";
import type { PlanFields } from "../protocol.js";
import type { Problem } from "./call.js";
import { Alert } from "./shown.js";

/**
 * A dialog over the page, as long as it is rendered. Escape calls `onClose`, unless `isLocked`. When it is gone, the
 * element that had the focus before has it again.
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
    return () => shown?.close();
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

/**
 * A form in a dialog, with a button that sends it once. What cannot be undone needs a second press: `again` is the
 * text of the button then.
 */
export function DialogForm({
  submit,
  again,
  isReady = true,
  isDangerous = false,
  onSubmit,
  onCancel,
  children,
}: {
  readonly submit: string;
  readonly again?: string | undefined;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  readonly onSubmit: () => Promise<Problem | undefined>;
  readonly onCancel: () => void;
  readonly children: ComponentChildren;
}) {
  const [isSending, setSending] = useState(false);
  const [wasPressed, setPressed] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => setPressed(false), [again]);
  const send = async (): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    setProblem(await onSubmit());
    setSending(false);
  };
  const needsSecond = again !== undefined && !wasPressed;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (needsSecond) setPressed(true);
        else if (!isSending) void send();
      }}
    >
      {children}
      <Alert text={problem?.message} />
      <p class="buttons">
        <button
          type="submit"
          class={isDangerous || again !== undefined ? "primary dangerous" : "primary"}
          disabled={!isReady || isSending}
        >
          {again !== undefined && wasPressed ? again : submit}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  );
}

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
  const { plan, limits = { perMinute: NaN, perDay: NaN } } = value;
  const limit = (name: string, field: "perMinute" | "perDay") => (
    <Field name={name}>
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
      {plans[plan] === "custom" && (
        <div class="row">
          {limit("Requests per minute", "perMinute")}
          {limit("Requests per day", "perDay")}
        </div>
      )}
    </>
  );
}

function describe(plan: Plan): string {
  if (plan === "custom") return "limits of its own";
  return `${plan.perMinute.toLocaleString()} a minute, ${plan.perDay.toLocaleString()} a day`;
}

/** Shows a new secret, once, and a line that uses it. */
export function NewSecret({
  secret,
  apiUrl,
  onClose,
}: {
  readonly secret: string;
  readonly apiUrl: string;
  readonly onClose: () => void;
}) {
  return (
    <>
      <p>The secret is shown only now. Only its hash is stored.</p>
      <Copied name="Secret" text={secret} />
      <Copied
        name="Try it"
        text={`curl -i -H "Authorization: Bearer ${secret}" "${apiUrl}/pets?limit=5"`}
      />
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have stored it
        </button>
      </p>
    </>
  );
}

/** Text with a button that copies it. */
function Copied({ name, text }: { readonly name: string; readonly text: string }) {
  const code = useRef<HTMLElement>(null);
  const [status, setStatus] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus("Copied.");
    } catch {
      // Pages over plain HTTP from another machine have no clipboard.
      if (code.current) getSelection()?.selectAllChildren(code.current);
      setStatus("Selected: press Ctrl+C.");
    }
  };
  return (
    <div class="copied">
      <span id={`copied-${name}`}>{name}</span>
      <code ref={code}>{text}</code>
      <button type="button" aria-describedby={`copied-${name}`} onClick={() => void copy()}>
        Copy
      </button>
      <span role="status">{status}</span>
    </div>
  );
}
