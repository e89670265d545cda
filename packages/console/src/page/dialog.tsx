import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CallName, Output } from "../protocol.js";
import { newIdempotencyKey, type CallResult, type Problem } from "./call.js";
import { Alert, Button } from "./controls.js";

interface DialogProps {
  readonly title: string;
  readonly isLocked?: boolean;
  /** Called by Escape, and by the buttons that close the dialog. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Escape does nothing if it `isLocked`. When it is gone, the focus is where it was before, or on the heading. */
export function Dialog({ title, isLocked = false, onClose, children }: DialogProps) {
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

/** Gives the focus to the heading of the page, if no element has it. */
export function focusHeading(): void {
  const heading = document.querySelector("h1");
  if (heading === null || document.activeElement !== document.body) return;
  heading.tabIndex = -1;
  heading.focus();
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

/** The first word of the title is the text of the button. */
export interface FormProps<Name extends CallName> extends Omit<DialogProps, "isLocked"> {
  /** The text of the button after the first press. Without it, an action needs no second press. */
  readonly again?: string | undefined;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  readonly send: (idempotencyKey: string) => Promise<CallResult<Name>>;
  /** Called when it was done, `onClose` by default. */
  readonly onDone?: (output: Output<Name>) => void;
}

/** Without a response, the same can be sent again, under the same idempotency key. */
export function DialogForm<Name extends CallName>(props: FormProps<Name>) {
  const { title, again, isReady = true, isDangerous, send } = props;
  const { onClose, onDone = onClose, children } = props;
  const [isSending, setSending] = useState(false);
  const [wasPressed, setPressed] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const idempotencyKey = useRef<string | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => setPressed(false), [again]);
  const isSettled = useSettled(wasPressed);
  const isOff = !isReady || isSending || (wasPressed && !isSettled);
  const isOpen = problem !== undefined && problem.kind !== "refused";
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (isOff) return;
    if (again !== undefined && !wasPressed) setPressed(true);
    else void submitOnce();
  };
  const submitOnce = async (): Promise<void> => {
    // The fields are disabled meanwhile.
    button.current?.focus();
    setSending(true);
    setProblem(undefined);
    idempotencyKey.current ??= newIdempotencyKey();
    const result = await send(idempotencyKey.current);
    if (result.output !== undefined) onDone(result.output);
    if (result.problem?.kind === "refused") idempotencyKey.current = undefined;
    setProblem(result.problem);
    setSending(false);
  };
  return (
    <Dialog title={title} isLocked={isSending} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <fieldset disabled={isSending || isOpen}>{children}</fieldset>
        <Alert text={problem && `${problem.message}${isOpen ? REPEATABLE : ""}`} />
        <p class="buttons">
          <button
            ref={button}
            type="submit"
            class={isDangerous || again !== undefined ? "primary dangerous" : "primary"}
            aria-disabled={isOff}
          >
            {again !== undefined && wasPressed ? again : title.split(" ", 1)}
          </button>
          <Button text="Cancel" isOff={isSending} onClick={onClose} />
        </p>
      </form>
    </Dialog>
  );
}

const REPEATABLE = " It may have been done. Press again to try again: it is not done twice.";
