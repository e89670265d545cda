import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Output, ShownKey } from "../protocol.js";
import { call, usePolled, type Problem } from "./call.js";
import { PlanDialog, RevokeDialog, RotateDialog } from "./key-dialogs.js";
import { Alert, Label, States, Time, Usage } from "./shown.js";

/** One key with its actions. */
export function KeyPage({ id, info }: { readonly id: string; readonly info: Output<"info"> }) {
  const { output, problem, reload } = usePolled("keys/find", { id });
  return (
    <main>
      <p>
        <a href="#keys">All keys</a>
      </p>
      {output === undefined && <h1>Key</h1>}
      <Alert text={problem?.message} />
      {output !== undefined && (
        <div class={problem === undefined ? "" : "stale"}>
          <h1>
            <Label text={output.key.label} />
          </h1>
          <Facts shown={output.key} now={output.now} />
          <Actions info={info} shown={output.key} reload={reload} />
        </div>
      )}
    </main>
  );
}

function Facts({ shown, now }: { readonly shown: ShownKey; readonly now: number }) {
  const { id, secrets, plan, limits, usage, createdAt, lastUsedAt, expiresAt } = shown;
  return (
    <dl class="facts">
      <Fact name="State">
        <States shown={shown} now={now} />
      </Fact>
      <Fact name="Minute">
        <Usage name="Minute" quota={usage.minute} now={now} />
      </Fact>
      <Fact name="Day">
        <Usage name="Day" quota={usage.day} now={now} />
      </Fact>
      <Fact name="Plan">
        {plan}{" "}
        <span class="faint">
          {limits.perMinute.toLocaleString()} a minute, {limits.perDay.toLocaleString()} a day
        </span>
      </Fact>
      <Fact name="Last use">
        {lastUsedAt === undefined ? "never" : <Time at={lastUsedAt} now={now} />}
      </Fact>
      <Fact name="Issued">
        <Time at={createdAt} now={now} />
      </Fact>
      <Fact name="Expires">
        {expiresAt === undefined ? "never" : <Time at={expiresAt} now={now} />}
      </Fact>
      <Fact name={secrets.length === 1 ? "Secret" : "Secrets"}>
        {secrets.map(({ hint, expiresAt: until }, index) => (
          <div key={index}>
            <code>{hint}…</code>{" "}
            {until !== undefined && (
              <span class="faint">
                {until > now ? "replaced; accepted until " : "replaced; refused since "}
                <Time at={until} now={now} />
              </span>
            )}
          </div>
        ))}
      </Fact>
      <Fact name="Id">
        <code>{id}</code>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Actions({
  info,
  shown,
  reload,
}: {
  readonly info: Output<"info">;
  readonly shown: ShownKey;
  readonly reload: () => void;
}) {
  const [open, setOpen] = useState<"rotate" | "plan" | "revoke">();
  const [problem, setProblem] = useState<Problem>();
  const { states } = shown;
  const hasEnded = states.includes("revoked") || states.includes("expired");
  const onClose = (): void => {
    setOpen(undefined);
    reload();
  };
  const liftBan = async (): Promise<void> => {
    setProblem((await call("keys/lift-ban", { id: shown.id })).problem);
    reload();
  };
  return (
    <>
      <Alert text={problem?.message} />
      <p class="buttons">
        {states.includes("banned") && (
          <button type="button" class="primary" onClick={() => void liftBan()}>
            Lift the ban
          </button>
        )}
        <button type="button" disabled={hasEnded} onClick={() => setOpen("rotate")}>
          Rotate…
        </button>
        <button type="button" disabled={hasEnded} onClick={() => setOpen("plan")}>
          Change plan…
        </button>
        <button
          type="button"
          class="dangerous"
          disabled={states.includes("revoked")}
          onClick={() => setOpen("revoke")}
        >
          Revoke…
        </button>
      </p>
      {open === "rotate" && <RotateDialog info={info} shown={shown} onClose={onClose} />}
      {open === "plan" && <PlanDialog info={info} shown={shown} onClose={onClose} />}
      {open === "revoke" && <RevokeDialog shown={shown} onClose={onClose} />}
    </>
  );
}
