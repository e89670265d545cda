import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { WINDOWS, type Output, type ShownKey } from "../protocol.js";
import { call, usePolled, type Problem } from "./call.js";
import { EndSecretDialog, PlanDialog, RevokeDialog, RotateDialog } from "./key-dialogs.js";
import type { Secrets } from "./secrets.js";
import {
  Alert,
  Button,
  focusHeading,
  Label,
  limitsText,
  States,
  Time,
  titled,
  Usage,
} from "./shown.js";

/** One key with its actions. */
export function KeyPage({
  id,
  info,
  secrets,
}: {
  readonly id: string;
  readonly info: Output<"info">;
  readonly secrets: Secrets;
}) {
  const { output, problem, reload } = usePolled("keys/find", { id });
  return (
    <main>
      <p>
        <a href="#keys">All keys</a>
      </p>
      <h1>{output === undefined ? "Key" : <Label text={output.key.label} />}</h1>
      <Alert text={problem?.message} />
      {output !== undefined && (
        <div class={problem === undefined ? "" : "stale"}>
          <Facts shown={output.key} now={output.now} reload={reload} />
          <Actions
            info={info}
            secrets={secrets}
            shown={output.key}
            now={output.now}
            reload={reload}
          />
        </div>
      )}
    </main>
  );
}

interface FactsProps {
  readonly shown: ShownKey;
  readonly now: number;
  readonly reload: () => void;
}

function Facts({ shown, now, reload }: FactsProps) {
  const { id, secrets, plan, limits, usage, createdAt, lastUsedAt, expiresAt } = shown;
  return (
    <dl class="facts">
      <Fact name="State">
        <States shown={shown} now={now} />
      </Fact>
      {WINDOWS.map((name) => (
        <Fact key={name} name={titled(name)}>
          <Usage name={titled(name)} quota={usage[name]} now={now} />
        </Fact>
      ))}
      <Fact name="Plan">
        {plan} <span class="faint">{limitsText(limits)}</span>
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
        <SecretList shown={shown} now={now} reload={reload} />
      </Fact>
      <Fact name="Id">
        <code>{id}</code>
      </Fact>
    </dl>
  );
}

/** The secrets of a key. One that is accepted can be ended if another is, too. */
function SecretList({ shown, now, reload }: FactsProps) {
  const [ending, setEnding] = useState<string>();
  const { secrets } = shown;
  const isAnother = secrets.filter(({ name }) => name !== "refused").length > 1;
  const onClose = (): void => {
    setEnding(undefined);
    reload();
  };
  return (
    <>
      {secrets.map(({ hint, name, at = now }, index) => (
        <div key={index}>
          <code>{hint}…</code>{" "}
          {name !== "current" && (
            <span class="faint">
              {name === "replaced" ? "replaced; accepted until " : "refused since "}
              <Time at={at} now={now} />
            </span>
          )}{" "}
          {isAnother && name !== "refused" && (
            <Button kind="dangerous" onClick={() => setEnding(hint)}>
              End…
            </Button>
          )}
        </div>
      ))}
      {ending !== undefined && <EndSecretDialog shown={shown} hint={ending} onClose={onClose} />}
    </>
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

/** How long the page says that a ban was not lifted, in milliseconds. */
const NOTICE = 10_000;

function Actions({
  info,
  secrets,
  shown,
  now,
  reload,
}: {
  readonly info: Output<"info">;
  readonly secrets: Secrets;
  readonly shown: ShownKey;
  readonly now: number;
  readonly reload: () => void;
}) {
  const [open, setOpen] = useState<"rotate" | "plan" | "revoke">();
  const [isLifting, setLifting] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const { states } = shown;
  const isBanned = states.includes("banned");
  const hasEnded = states.includes("revoked") || states.includes("expired");
  useEffect(() => {
    const timer = setTimeout(() => setProblem(undefined), NOTICE);
    return () => clearTimeout(timer);
  }, [problem]);
  // The button that had the focus is gone then.
  useEffect(() => (isBanned ? focusHeading : undefined), [isBanned]);
  const onClose = (): void => {
    setOpen(undefined);
    reload();
  };
  const liftBan = async (): Promise<void> => {
    setLifting(true);
    setProblem((await call("keys/lift-ban", { id: shown.id })).problem);
    setLifting(false);
    reload();
  };
  return (
    <>
      <Alert text={isBanned && !isLifting ? problem?.message : undefined} />
      <p class="buttons">
        {isBanned && (
          <Button kind="primary" isOff={isLifting} onClick={() => void liftBan()}>
            Lift the ban
          </Button>
        )}
        <Button isOff={hasEnded} onClick={() => setOpen("rotate")}>
          Rotate…
        </Button>
        <Button isOff={hasEnded} onClick={() => setOpen("plan")}>
          Change plan…
        </Button>
        <Button
          kind="dangerous"
          isOff={states.includes("revoked")}
          onClick={() => setOpen("revoke")}
        >
          Revoke…
        </Button>
      </p>
      {open === "rotate" && <RotateDialog secrets={secrets} shown={shown} onClose={onClose} />}
      {open === "plan" && <PlanDialog info={info} shown={shown} onClose={onClose} />}
      {open === "revoke" && <RevokeDialog shown={shown} now={now} onClose={onClose} />}
    </>
  );
}
