import { useEffect, useId, useRef, useState } from "preact/hooks";
import { call, usePolled, type CallResult } from "./call.js";
import type { SecretOutput } from "../protocol.js";
import { Alert, Button } from "./controls.js";
import { Dialog, useSettled } from "./dialog.js";
import { Label } from "./shown.js";

/** An action that makes a secret, from when it is sent until the operator has stored the secret. */
interface Pending {
  readonly idempotencyKey: string;
  readonly title: string;
}

type SecretResult = CallResult<"keys/issue" | "keys/rotate">;

export type Secrets = ReturnType<typeof useSecrets>;

/** Remembers the action that makes a secret, also when the page is loaded again. There is one at most. */
export function useSecrets(baseUrl: string) {
  const [pending, setPending] = useState(recall);
  const [made, setMade] = useState<SecretOutput>();
  const [hasForm, setForm] = useState(false);
  /** The idempotency key of the pending action. A late response of another one, whose form was left, changes nothing. */
  const expected = useRef<string | undefined>(undefined);
  const change = (next: Pending | undefined): void => {
    expected.current = next?.idempotencyKey;
    remember(next);
    setPending(next);
    setMade(undefined);
  };
  const onStored = (): void => {
    if (pending) void call("secrets/take", { idempotencyKey: pending.idempotencyKey });
    change(undefined);
  };
  const dialog = () => {
    if (pending === undefined) return null;
    const { title } = pending;
    if (made !== undefined)
      return <NewSecret title={title} made={made} baseUrl={baseUrl} onStored={onStored} />;
    if (hasForm) return null;
    return <Recovery pending={pending} onSecret={setMade} onClose={() => change(undefined)} />;
  };
  return {
    /** Performs an action. If it has made a secret, calls `done` and shows the secret. */
    make: async (next: Pending, send: () => Promise<SecretResult>, done: () => void) => {
      // If the outcome is unknown, it is only looked up: a console that was restarted would do the action again.
      const isNew = expected.current !== next.idempotencyKey;
      change(next);
      setForm(true);
      const result = await (isNew ? send() : call("secrets/recover", next));
      const { output, problem } = result;
      if (expected.current !== next.idempotencyKey) return result;
      if (problem?.kind === "refused" || problem?.kind === "failed") change(undefined);
      if (output !== undefined) {
        done();
        setMade(output);
      }
      return result;
    },
    /** To be called when the form of the action is gone. If the outcome is unknown, the page looks it up. */
    leave: () => setForm(false),
    dialog: dialog(),
  };
}

interface RecoveryProps {
  readonly pending: Pending;
  readonly onSecret: (made: SecretOutput) => void;
  readonly onClose: () => void;
}

function Recovery({ pending: { idempotencyKey, title }, onSecret, onClose }: RecoveryProps) {
  const { output, problem } = usePolled("secrets/recover", { idempotencyKey });
  useEffect(() => {
    if (output !== undefined) onSecret(output);
  }, [output]);
  const isRefused = problem?.kind === "refused";
  return (
    <Dialog title={title} isLocked={!isRefused} onClose={onClose}>
      <p role="status">{isRefused ? problem.message : ASKING}</p>
      <Alert text={isRefused ? undefined : problem?.message} />
      {isRefused && (
        <p class="buttons">
          <Button text="Close" onClick={onClose} />
        </p>
      )}
    </Dialog>
  );
}

const ASKING = "This may have been done. The page asks, and shows the secret if there is one.";

const ITEM = "petstore-console";

/** Remembers an action for this tab: in the session storage, or in the name of the tab where site data is blocked. */
function remember(pending: Pending | undefined): void {
  const text = pending ? `${ITEM} ${pending.idempotencyKey} ${pending.title}` : "";
  try {
    sessionStorage.setItem(ITEM, text);
  } catch {
    window.name = text;
  }
}

function recall(): Pending | undefined {
  let text = window.name;
  try {
    text = sessionStorage.getItem(ITEM) ?? text;
  } catch {
    // Site data is blocked.
  }
  const [, idempotencyKey, title] = /^petstore-console (\w+) (.+)$/.exec(text) ?? [];
  return idempotencyKey && title ? { idempotencyKey, title } : undefined;
}

interface NewSecretProps {
  readonly title: string;
  readonly made: SecretOutput;
  readonly baseUrl: string;
  readonly onStored: () => void;
}

function NewSecret({ title, made: { key, secret }, baseUrl, onStored }: NewSecretProps) {
  const isSettled = useSettled(secret);
  return (
    <Dialog title={title} isLocked onClose={() => undefined}>
      <p>
        <Label text={key.label} /> on the {key.plan} plan. The secret is shown only now. Only its
        hash is stored.
      </p>
      <Copied name="Secret" text={secret} />
      <Copied
        name="Try it"
        text={`curl -i -H "Authorization: Bearer ${secret}" "${baseUrl}/pets?limit=5"`}
      />
      <p class="buttons end">
        <Button text="I have stored it" kind="primary" isOff={!isSettled} onClick={onStored} />
      </p>
    </Dialog>
  );
}

function Copied({ name, text }: { readonly name: string; readonly text: string }) {
  const code = useRef<HTMLElement>(null);
  const [status, setStatus] = useState("");
  const id = useId();
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
      <span id={id}>{name}</span>
      <code ref={code}>{text}</code>
      <Button text="Copy" aria-describedby={id} onClick={() => void copy()} />
      <span role="status">{status}</span>
    </div>
  );
}
