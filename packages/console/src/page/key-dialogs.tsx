import { useState } from "preact/hooks";
import type { Output, PlanFields, ShownKey } from "../protocol.js";
import { call } from "./call.js";
import { Dialog, DialogForm, Field, NewSecret, PlanChoice } from "./dialog.js";
import { Label, Time } from "./shown.js";

/** What a dialog for a key needs. */
interface KeyDialogProps {
  readonly info: Output<"info">;
  readonly shown: ShownKey;
  /** Called when it is closed, whether or not the key was changed. */
  readonly onClose: () => void;
}

/** Issues a key and shows its secret. */
export function IssueDialog({ info, onClose }: Pick<KeyDialogProps, "info" | "onClose">) {
  const [label, setLabel] = useState("");
  const [choice, setChoice] = useState<PlanFields>({ plan: Object.keys(info.plans)[0] ?? "" });
  const [expires, setExpires] = useState("");
  const [secret, setSecret] = useState<string>();
  const issue = async () => {
    const { output, problem } = await call("keys/issue", {
      ...choice,
      label: label === "" ? undefined : label,
      expiresAt: expires === "" ? undefined : new Date(expires).getTime(),
    });
    setSecret(output?.secret);
    return problem;
  };
  return (
    <Dialog title="Issue a key" isLocked={secret !== undefined} onClose={onClose}>
      {secret === undefined ? (
        <DialogForm submit="Issue" onSubmit={issue} onCancel={onClose}>
          <Field name="Label" hint="by which you recognize it">
            <input
              maxLength={200}
              autocomplete="off"
              autofocus
              value={label}
              onInput={({ currentTarget }) => setLabel(currentTarget.value)}
            />
          </Field>
          <PlanChoice plans={info.plans} value={choice} onChange={setChoice} />
          <Field name="Expires" hint="empty: never">
            <input
              type="datetime-local"
              value={expires}
              onInput={({ currentTarget }) => setExpires(currentTarget.value)}
            />
          </Field>
        </DialogForm>
      ) : (
        <NewSecret secret={secret} apiUrl={info.apiUrl} onClose={onClose} />
      )}
    </Dialog>
  );
}

const OVERLAPS = [
  [3_600, "for one more hour"],
  [86_400, "for one more day"],
  [604_800, "for one more week"],
  [0, "not at all: refused at once"],
] as const;

/** Gives a key a new secret and shows it. */
export function RotateDialog({ info, shown, onClose }: KeyDialogProps) {
  const [overlap, setOverlap] = useState<number>(OVERLAPS[0][0]);
  const [secret, setSecret] = useState<string>();
  const rotate = async () => {
    const { output, problem } = await call("keys/rotate", {
      id: shown.id,
      overlapSeconds: overlap,
    });
    setSecret(output?.secret);
    return problem;
  };
  return (
    <Dialog title="Rotate the secret" isLocked={secret !== undefined} onClose={onClose}>
      {secret === undefined ? (
        <DialogForm
          submit="Rotate"
          again={overlap === 0 ? "Press again: the old secret ends now" : undefined}
          onSubmit={rotate}
          onCancel={onClose}
        >
          <p>
            <Label text={shown.label} /> gets a new secret. Plan, limits and usage stay.
          </p>
          <Field name={`The old secret (${shown.hint}…) is accepted`}>
            <select
              value={overlap}
              onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
            >
              {OVERLAPS.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
        </DialogForm>
      ) : (
        <NewSecret secret={secret} apiUrl={info.apiUrl} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** Moves a key to another plan. */
export function PlanDialog({ info, shown, onClose }: KeyDialogProps) {
  const [choice, setChoice] = useState<PlanFields>({
    plan: shown.plan,
    limits: info.plans[shown.plan] === "custom" ? shown.limits : undefined,
  });
  const change = async () => {
    const { problem } = await call("keys/change-plan", { id: shown.id, ...choice });
    if (problem === undefined) onClose();
    return problem;
  };
  return (
    <Dialog title="Change the plan" onClose={onClose}>
      <DialogForm submit="Change" onSubmit={change} onCancel={onClose}>
        <p>
          What <Label text={shown.label} /> has used in this minute and day stays counted.
        </p>
        <PlanChoice plans={info.plans} value={choice} onChange={setChoice} />
      </DialogForm>
    </Dialog>
  );
}

/** Revokes a key for good, when its label was typed. */
export function RevokeDialog({ shown, onClose }: Omit<KeyDialogProps, "info">) {
  const wanted = confirmation(shown);
  const [typed, setTyped] = useState("");
  const revoke = async () => {
    const { problem } = await call("keys/revoke", { id: shown.id });
    if (problem === undefined) onClose();
    return problem;
  };
  return (
    <Dialog title="Revoke the key" onClose={onClose}>
      <DialogForm
        submit="Revoke"
        isDangerous
        isReady={typed.trim().normalize() === wanted}
        onSubmit={revoke}
        onCancel={onClose}
      >
        <p>
          All requests with <Label text={shown.label} /> ({shown.hint}…) are refused from now on.
          This cannot be undone.
        </p>
        {shown.lastUsedAt !== undefined && (
          <p>
            It was last used <Time at={shown.lastUsedAt} now={shown.lastUsedAt} />.
          </p>
        )}
        <Field name={`To confirm, type ${wanted}`}>
          <input
            autocomplete="off"
            spellcheck={false}
            autofocus
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </Field>
      </DialogForm>
    </Dialog>
  );
}

/** Returns the label if it can be read and typed, otherwise the end of the id. */
function confirmation({ id, label = "" }: ShownKey): string {
  const isTypable = /^[\p{L}\p{N}\p{P}\p{S}]+(?: [\p{L}\p{N}\p{P}\p{S}]+)*$/u.test(label);
  return isTypable && label.length <= 40 ? label.normalize() : id.slice(-6);
}
