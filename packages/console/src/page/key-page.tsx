import { useEffect, useState } from "preact/hooks";
import type { ShownKey } from "../protocol.js";
import { call, usePolled, type Problem } from "./call.js";
import { Alert, Button, type Column } from "./controls.js";
import { focusHeading } from "./dialog.js";
import { DIALOGS, type Shared } from "./key-dialogs.js";
import { Label, LAST_USE, limitsText, STATES, Time, USAGE } from "./shown.js";

type Open = (dialog: keyof typeof DIALOGS, hint?: string) => void;

export function KeyPage({ id, ...shared }: Shared & { readonly id: string }) {
  const { output, problem, reload } = usePolled("keys/find", { id });
  const [opened, setOpened] = useState<Parameters<Open>>();
  const [dialog, hint] = opened ?? [];
  const Dialog = dialog && DIALOGS[dialog];
  const open: Open = (...what) => setOpened(what);
  const onClose = (): void => {
    setOpened(undefined);
    reload();
  };
  return (
    <main>
      <p>
        <a href="#keys">All keys</a>
      </p>
      <h1>{output === undefined ? "Key" : <Label text={output.key.label} />}</h1>
      <Alert text={problem?.message} />
      {output !== undefined && (
        <div class={problem === undefined ? "" : "stale"}>
          <dl class="facts">
            {factsOf(output.key, open).map(({ heading, cell }) => (
              <div key={heading}>
                <dt>{heading}</dt>
                <dd>{cell(output.key, output.now)}</dd>
              </div>
            ))}
          </dl>
          <Actions shown={output.key} open={open} reload={reload} />
          {Dialog && (
            <Dialog
              {...shared}
              shown={output.key}
              hint={hint ?? output.key.hint}
              now={output.now}
              onClose={onClose}
            />
          )}
        </div>
      )}
    </main>
  );
}

function factsOf({ secrets }: ShownKey, open: Open): readonly Column<ShownKey>[] {
  // One that is accepted can be ended if another is, too.
  const isAnother = secrets.filter(({ name }) => name !== "refused").length > 1;
  return [
    STATES,
    ...USAGE,
    {
      heading: "Plan",
      cell: ({ plan, limits }) => (
        <>
          {plan} <span class="faint">{limitsText(limits)}</span>
        </>
      ),
    },
    LAST_USE,
    { heading: "Issued", cell: ({ createdAt }, now) => <Time at={createdAt} now={now} /> },
    { heading: "Expires", cell: ({ expiresAt }, now) => <Time at={expiresAt} now={now} /> },
    {
      heading: secrets.length === 1 ? "Secret" : "Secrets",
      cell: (_, now) =>
        secrets.map(({ hint, name, at }, index) => (
          <div key={index}>
            <code>{hint}…</code>{" "}
            {name !== "current" && (
              <span class="faint">
                {name === "replaced" ? "replaced; accepted until " : "refused since "}
                <Time at={at} now={now} />
              </span>
            )}{" "}
            {isAnother && name !== "refused" && (
              <Button text="End…" kind="dangerous" onClick={() => open("endSecret", hint)} />
            )}
          </div>
        )),
    },
    { heading: "Id", cell: ({ id }) => <code>{id}</code> },
  ];
}

/** How long the page says that a ban was not lifted, in milliseconds. */
const NOTICE = 10_000;

interface ActionsProps {
  readonly shown: ShownKey;
  readonly open: Open;
  readonly reload: () => void;
}

function Actions({ shown: { id, states }, open, reload }: ActionsProps) {
  const [isLifting, setLifting] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const isBanned = states.includes("banned");
  const isRevoked = states.includes("revoked");
  const hasEnded = isRevoked || states.includes("expired");
  useEffect(() => {
    const timer = setTimeout(() => setProblem(undefined), NOTICE);
    return () => clearTimeout(timer);
  }, [problem]);
  // The button that had the focus is gone then.
  useEffect(() => (isBanned ? focusHeading : undefined), [isBanned]);
  const liftBan = async (): Promise<void> => {
    setLifting(true);
    setProblem((await call("keys/lift-ban", { id })).problem);
    setLifting(false);
    reload();
  };
  return (
    <>
      <Alert text={isBanned && !isLifting ? problem?.message : undefined} />
      <p class="buttons">
        {isBanned && (
          <Button
            text="Lift the ban"
            kind="primary"
            isOff={isLifting}
            onClick={() => void liftBan()}
          />
        )}
        <Button text="Rotate…" isOff={hasEnded} onClick={() => open("rotate")} />
        <Button text="Change plan…" isOff={hasEnded} onClick={() => open("plan")} />
        <Button text="Revoke…" kind="dangerous" isOff={isRevoked} onClick={() => open("revoke")} />
      </p>
    </>
  );
}
