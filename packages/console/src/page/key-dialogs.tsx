import type { RateLimits } from "@petstore/core";
import { windowNames, windows } from "@petstore/core/facts";
import { useEffect, useState } from "preact/hooks";
import type { Input } from "../inputs.js";
import type { Output, ShownKey } from "../protocol.js";
import { call } from "./call.js";
import { Field, Select, TextInput, type Option } from "./controls.js";
import { DialogForm, type FormProps } from "./dialog.js";
import type { Secrets } from "./secrets.js";
import { Label, limitsText, Time } from "./shown.js";

/** What the pages of keys share. */
export interface Shared {
  readonly info: Output<"info">;
  readonly secrets: Secrets;
}

/** What a dialog for a key needs. */
export interface KeyDialogProps extends Shared {
  readonly shown: ShownKey;
  /** The hint of one of its secrets. */
  readonly hint: string;
  readonly now: number;
  /** Called when it is closed, whether or not the key was changed. */
  readonly onClose: () => void;
}

/** A form that makes a secret. */
function SecretForm({
  secrets,
  send,
  ...form
}: FormProps<"keys/issue" | "keys/rotate"> & Pick<Shared, "secrets">) {
  const { title, onClose } = form;
  useEffect(() => secrets.leave, []);
  return (
    <DialogForm
      {...form}
      send={(idempotencyKey) =>
        secrets.make({ idempotencyKey, title }, () => send(idempotencyKey), onClose)
      }
      onDone={() => undefined}
    />
  );
}

/** Issues a key. */
export function IssueDialog({
  info,
  secrets,
  onClose,
}: Omit<KeyDialogProps, "shown" | "hint" | "now">) {
  const [label, setLabel] = useState("");
  const [choice, setChoice] = useState<PlanChoice>({ plan: Object.keys(info.plans)[0] ?? "" });
  const [expires, setExpires] = useState("");
  const input = {
    ...choice,
    label: label || undefined,
    expiresAt: expires === "" ? undefined : new Date(expires).getTime(),
  };
  return (
    <SecretForm
      title="Issue a key"
      submit="Issue"
      secrets={secrets}
      send={(idempotencyKey) => call("keys/issue", input, idempotencyKey)}
      onClose={onClose}
    >
      <Field name="Label" hint="by which you recognize it">
        <TextInput maxLength={200} autofocus value={label} onChange={setLabel} />
      </Field>
      <PlanFields info={info} value={choice} onChange={setChoice} />
      <Field name="Expires" hint="empty: never">
        <TextInput type="datetime-local" value={expires} onChange={setExpires} />
      </Field>
    </SecretForm>
  );
}

const OVERLAPS: readonly Option<number>[] = [
  [3_600, "for one more hour"],
  [86_400, "for one more day"],
  [604_800, "for one more week"],
  [0, "not at all: refused at once"],
];

/** Gives a key a new secret. */
export function RotateDialog({ secrets, shown, hint, onClose }: KeyDialogProps) {
  const [overlapSeconds, setOverlap] = useState(3_600);
  const input = { id: shown.id, overlapSeconds };
  return (
    <SecretForm
      title="Rotate the secret"
      submit="Rotate"
      again={overlapSeconds === 0 ? "Press again: the old secret ends now" : undefined}
      secrets={secrets}
      send={(idempotencyKey) => call("keys/rotate", input, idempotencyKey)}
      onClose={onClose}
    >
      <p>
        <Label text={shown.label} /> gets a new secret. Plan, limits and usage stay.
      </p>
      <Field name={`The old secret (${hint}…) is accepted`}>
        <Select value={overlapSeconds} options={OVERLAPS} onChange={setOverlap} />
      </Field>
    </SecretForm>
  );
}

/** Moves a key to another plan. */
export function PlanDialog({ info, shown, onClose }: KeyDialogProps) {
  const { id, plan, limits, label } = shown;
  const isCustom = info.plans[plan] === "custom";
  const [choice, setChoice] = useState<PlanChoice>(isCustom ? { plan, limits } : { plan });
  return (
    <DialogForm
      title="Change the plan"
      submit="Change"
      send={(idempotencyKey) => call("keys/change-plan", { id, ...choice }, idempotencyKey)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>
        What <Label text={label} /> has used in this {windowNames.join(" and ")} stays counted.
      </p>
      <PlanFields info={info} value={choice} onChange={setChoice} />
    </DialogForm>
  );
}

type PlanChoice = Pick<Input<"keys/issue">, "plan" | "limits">;

/** The limits that a key on a custom plan must have. */
const REQUIRED: RateLimits = { perMinute: NaN, perDay: NaN };

/** Chooses a plan, and the limits of the key if the plan has none of its own. */
function PlanFields({
  info: { plans },
  value: { plan, limits = REQUIRED },
  onChange,
}: Pick<Shared, "info"> & {
  readonly value: PlanChoice;
  readonly onChange: (value: PlanChoice) => void;
}) {
  const options = Object.entries(plans).map(([name, each]): Option<string> => {
    const text = each === "custom" ? "limits of its own" : limitsText(each);
    return [name, `${name} (${text})`];
  });
  return (
    <>
      <Field name="Plan">
        <Select value={plan} options={options} onChange={(plan) => onChange({ plan })} />
      </Field>
      {plans[plan] === "custom" && (
        <div class="row">
          {windowNames.map((name) => {
            const field = windows[name].limit;
            return (
              <Field key={name} name={`Requests per ${name}`}>
                <TextInput
                  type="number"
                  required={field in REQUIRED}
                  min={1}
                  max={Number.MAX_SAFE_INTEGER}
                  step={1}
                  value={String(limits[field] || "")}
                  onChange={(text) =>
                    onChange({
                      plan,
                      limits: { ...limits, [field]: text ? Number(text) : undefined },
                    })
                  }
                />
              </Field>
            );
          })}
        </div>
      )}
    </>
  );
}

/** Revokes a key for good, when its label was typed. */
export function RevokeDialog({ shown, hint, now, onClose }: KeyDialogProps) {
  const { id, label, lastUsedAt } = shown;
  const wanted = confirmation(shown);
  const [typed, setTyped] = useState("");
  return (
    <DialogForm
      title="Revoke the key"
      submit="Revoke"
      isDangerous
      isReady={typed.trim().normalize() === wanted}
      send={(idempotencyKey) => call("keys/revoke", { id }, idempotencyKey)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>
        All requests with <Label text={label} /> ({hint}…) are refused from now on. This cannot be
        undone.
      </p>
      {lastUsedAt !== undefined && (
        <p>
          It was last used <Time at={lastUsedAt} now={now} />.
        </p>
      )}
      <Field name={`To confirm, type ${wanted}`}>
        <TextInput spellcheck={false} autofocus value={typed} onChange={setTyped} />
      </Field>
    </DialogForm>
  );
}

/** Ends one secret of a key, which has others. */
export function EndSecretDialog({ shown: { id, label }, hint, onClose }: KeyDialogProps) {
  return (
    <DialogForm
      title="End a secret"
      submit="End"
      isDangerous
      send={(idempotencyKey) => call("keys/end-secret", { id, hint }, idempotencyKey)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>
        Requests with <code>{hint}…</code> are refused from now on. The other secrets of{" "}
        <Label text={label} /> stay valid. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Returns the label if it can be read and typed, otherwise the end of the id. */
function confirmation({ id, label = "" }: ShownKey): string {
  const isTypable = /^[\p{L}\p{N}\p{P}\p{S}]+(?: [\p{L}\p{N}\p{P}\p{S}]+)*$/u.test(label);
  return isTypable && label.length <= 40 ? label.normalize() : id.slice(-6);
}
