import type { RateLimits } from "@petstore/core";
import { windowNames, windows } from "@petstore/core/facts";
import { useEffect, useState } from "preact/hooks";
import type { Input } from "../inputs.js";
import type { Output, ShownKey } from "../protocol.js";
import { call } from "./call.js";
import { Select, TextInput, type Option } from "./controls.js";
import { DialogForm, type FormProps } from "./dialog.js";
import type { Secrets } from "./secrets.js";
import { Label, limitsText, Time } from "./shown.js";

export interface Shared {
  readonly info: Output<"info">;
  readonly secrets: Secrets;
}

interface KeyDialogProps extends Shared {
  readonly shown: ShownKey;
  readonly hint: string;
  readonly now: number;
  readonly onClose: () => void;
}

type SecretFormProps = FormProps<"keys/issue" | "keys/rotate"> & Pick<Shared, "secrets">;

function SecretForm({ secrets, send, ...form }: SecretFormProps) {
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

export function IssueDialog({ info, secrets, onClose }: Shared & Pick<KeyDialogProps, "onClose">) {
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
      secrets={secrets}
      send={(idempotencyKey) => call("keys/issue", input, idempotencyKey)}
      onClose={onClose}
    >
      <TextInput
        field="Label"
        hint="by which you recognize it"
        maxLength={200}
        autofocus
        value={label}
        onValue={setLabel}
      />
      <PlanFields info={info} value={choice} onChange={setChoice} />
      <TextInput
        field="Expires"
        hint="empty: never"
        type="datetime-local"
        value={expires}
        onValue={setExpires}
      />
    </SecretForm>
  );
}

const OVERLAPS: readonly Option<number>[] = [
  [3_600, "for one more hour"],
  [86_400, "for one more day"],
  [604_800, "for one more week"],
  [0, "not at all: refused at once"],
];

function RotateDialog({ secrets, shown, hint, onClose }: KeyDialogProps) {
  const [overlapSeconds, setOverlap] = useState(3_600);
  return (
    <SecretForm
      title="Rotate the secret"
      again={overlapSeconds === 0 ? `Press again: ${hint}… ends now` : undefined}
      secrets={secrets}
      send={(key) => call("keys/rotate", { id: shown.id, overlapSeconds }, key)}
      onClose={onClose}
    >
      <p>
        <Label text={shown.label} /> gets a new secret. Plan, limits and usage stay.
      </p>
      <Select
        field={`The old secret (${hint}…) is accepted`}
        value={overlapSeconds}
        options={OVERLAPS}
        onValue={setOverlap}
      />
    </SecretForm>
  );
}

function PlanDialog({ info, shown, onClose }: KeyDialogProps) {
  const { id, plan, limits, label } = shown;
  const isCustom = info.plans[plan] === "custom";
  const [choice, setChoice] = useState<PlanChoice>(isCustom ? { plan, limits } : { plan });
  return (
    <DialogForm
      title="Change the plan"
      send={(idempotencyKey) => call("keys/change-plan", { id, ...choice }, idempotencyKey)}
      onClose={onClose}
    >
      <p>
        What <Label text={label} /> has used in its current windows stays counted.
      </p>
      <PlanFields info={info} value={choice} onChange={setChoice} />
    </DialogForm>
  );
}

type PlanChoice = Pick<Input<"keys/issue">, "plan" | "limits">;

const REQUIRED: RateLimits = { perMinute: NaN, perDay: NaN };

interface PlanFieldsProps extends Pick<Shared, "info"> {
  readonly value: PlanChoice;
  readonly onChange: (value: PlanChoice) => void;
}

function PlanFields({ info: { plans }, value, onChange }: PlanFieldsProps) {
  const { plan, limits = REQUIRED } = value;
  const options = Object.entries(plans).map(([name, each]): Option<string> => {
    const text = each === "custom" ? "limits of its own" : limitsText(each);
    return [name, `${name} (${text})`];
  });
  return (
    <>
      <Select field="Plan" value={plan} options={options} onValue={(plan) => onChange({ plan })} />
      {plans[plan] === "custom" && (
        <div class="row">
          {windowNames.map((name) => {
            const field = windows[name].limit;
            const change = (limit: number | undefined) =>
              onChange({ plan, limits: { ...limits, [field]: limit } });
            return (
              <TextInput
                key={name}
                field={`Requests per ${name}`}
                type="number"
                required={field in REQUIRED}
                min={1}
                max={Number.MAX_SAFE_INTEGER}
                step={1}
                value={Number.isFinite(limits[field]) ? limits[field] : ""}
                onValue={(text) => change(text ? Number(text) : undefined)}
              />
            );
          })}
        </div>
      )}
    </>
  );
}

function RevokeDialog({ shown, hint, now, onClose }: KeyDialogProps) {
  const { id, label, lastUsedAt } = shown;
  const wanted = confirmation(shown);
  const [typed, setTyped] = useState("");
  return (
    <DialogForm
      title="Revoke the key"
      isDangerous
      isReady={typed.trim().normalize() === wanted}
      send={(idempotencyKey) => call("keys/revoke", { id }, idempotencyKey)}
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
      <TextInput
        field={`To confirm, type ${wanted}`}
        spellcheck={false}
        autofocus
        value={typed}
        onValue={setTyped}
      />
    </DialogForm>
  );
}

function EndSecretDialog({ shown: { id, label }, hint, onClose }: KeyDialogProps) {
  return (
    <DialogForm
      title="End a secret"
      isDangerous
      send={(idempotencyKey) => call("keys/end-secret", { id, hint }, idempotencyKey)}
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

export const DIALOGS = {
  rotate: RotateDialog,
  plan: PlanDialog,
  revoke: RevokeDialog,
  endSecret: EndSecretDialog,
};
