import { useEffect, useState } from "preact/hooks";
import type { Output, PlanFields, ShownKey } from "../protocol.js";
import { call } from "./call.js";
import { DialogForm, Field, PlanChoice } from "./dialog.js";
import type { Secrets } from "./secrets.js";
import { Label, Time } from "./shown.js";

/** What a dialog for a key needs. */
interface KeyDialogProps {
  readonly info: Output<"info">;
  readonly secrets: Secrets;
  readonly shown: ShownKey;
  /** Called when it is closed, whether or not the key was changed. */
  readonly onClose: () => void;
}

/** Issues a key. */
export function IssueDialog({ info, secrets, onClose }: Omit<KeyDialogProps, "shown">) {
  const [label, setLabel] = useState("");
  const [choice, setChoice] = useState<PlanFields>({ plan: Object.keys(info.plans)[0] ?? "" });
  const [expires, setExpires] = useState("");
  const title = "Issue a key";
  useEffect(() => secrets.leave, []);
  const issue = (idempotencyKey: string) => {
    const input = {
      ...choice,
      label: label === "" ? undefined : label,
      expiresAt: expires === "" ? undefined : new Date(expires).getTime(),
    };
    const send = () => call("keys/issue", input, idempotencyKey);
    return secrets.make({ idempotencyKey, title }, send, onClose);
  };
  return (
    <DialogForm title={title} submit="Issue" onSubmit={issue} onClose={onClose}>
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
  );
}

const OVERLAPS = [
  [3_600, "for one more hour"],
  [86_400, "for one more day"],
  [604_800, "for one more week"],
  [0, "not at all: refused at once"],
] as const;

/** Gives a key a new secret. */
export function RotateDialog({ secrets, shown, onClose }: Omit<KeyDialogProps, "info">) {
  const [overlap, setOverlap] = useState<number>(OVERLAPS[0][0]);
  const title = "Rotate the secret";
  useEffect(() => secrets.leave, []);
  const rotate = (idempotencyKey: string) => {
    const input = { id: shown.id, overlapSeconds: overlap };
    const send = () => call("keys/rotate", input, idempotencyKey);
    return secrets.make({ idempotencyKey, title }, send, onClose);
  };
  return (
    <DialogForm
      title={title}
      submit="Rotate"
      again={overlap === 0 ? "Press again: the old secret ends now" : undefined}
      onSubmit={rotate}
      onClose={onClose}
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
  );
}

/** Moves a key to another plan. */
export function PlanDialog({ info, shown, onClose }: Omit<KeyDialogProps, "secrets">) {
  const [choice, setChoice] = useState<PlanFields>({
    plan: shown.plan,
    limits: info.plans[shown.plan] === "custom" ? shown.limits : undefined,
  });
  const change = async (key: string) => {
    const { problem } = await call("keys/change-plan", { id: shown.id, ...choice }, key);
    if (problem === undefined) onClose();
    return problem;
  };
  return (
    <DialogForm title="Change the plan" submit="Change" onSubmit={change} onClose={onClose}>
      <p>
        What <Label text={shown.label} /> has used in this minute and day stays counted.
      </p>
      <PlanChoice plans={info.plans} value={choice} onChange={setChoice} />
    </DialogForm>
  );
}

/** Revokes a key for good, when its label was typed. */
export function RevokeDialog({
  shown,
  now,
  onClose,
}: Pick<KeyDialogProps, "shown" | "onClose"> & { readonly now: number }) {
  const wanted = confirmation(shown);
  const [typed, setTyped] = useState("");
  const revoke = async (key: string) => {
    const { problem } = await call("keys/revoke", { id: shown.id }, key);
    if (problem === undefined) onClose();
    return problem;
  };
  return (
    <DialogForm
      title="Revoke the key"
      submit="Revoke"
      isDangerous
      isReady={typed.trim().normalize() === wanted}
      onSubmit={revoke}
      onClose={onClose}
    >
      <p>
        All requests with <Label text={shown.label} /> ({shown.hint}…) are refused from now on. This
        cannot be undone.
      </p>
      {shown.lastUsedAt !== undefined && (
        <p>
          It was last used <Time at={shown.lastUsedAt} now={now} />.
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
  );
}

/** Ends one secret of a key, which has others. */
export function EndSecretDialog({
  shown,
  hint,
  onClose,
}: Pick<KeyDialogProps, "shown" | "onClose"> & { readonly hint: string }) {
  const end = async (key: string) => {
    const { problem } = await call("keys/end-secret", { id: shown.id, hint }, key);
    if (problem === undefined) onClose();
    return problem;
  };
  return (
    <DialogForm title="End a secret" submit="End" isDangerous onSubmit={end} onClose={onClose}>
      <p>
        Requests with <code>{hint}…</code> are refused from now on. The other secrets of{" "}
        <Label text={shown.label} /> stay valid. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Returns the label if it can be read and typed, otherwise the end of the id. */
function confirmation({ id, label = "" }: ShownKey): string {
  const isTypable = /^[\p{L}\p{N}\p{P}\p{S}]+(?: [\p{L}\p{N}\p{P}\p{S}]+)*$/u.test(label);
  return isTypable && label.length <= 40 ? label.normalize() : id.slice(-6);
}
