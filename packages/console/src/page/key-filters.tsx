import { useEffect, useRef, useState } from "preact/hooks";
import { SHOWN_STATES, type KeyList, type KeyListInput, type Output } from "../protocol.js";
import { call, type CallResult } from "./call.js";
import { Alert, Label } from "./shown.js";

/** A secret as it is pasted. */
const SECRET = /^pet_live_[0-9A-Za-z]{36}$/;

/** Chooses which keys are listed, or finds the key of a pasted secret. */
export function KeyFilters({
  info,
  query,
  setQuery,
  list,
}: {
  readonly info: Output<"info">;
  readonly query: KeyListInput;
  readonly setQuery: (query: KeyListInput) => void;
  readonly list: KeyList | undefined;
}) {
  const [found, setFound] = useState<CallResult<"keys/find-by-secret">>();
  const latest = useRef(0);
  useEffect(() => () => void (latest.current = Infinity), []);
  const change = (changed: Partial<KeyListInput>): void =>
    setQuery({ ...query, page: 0, ...changed });
  const search = async (input: HTMLInputElement): Promise<void> => {
    const id = ++latest.current;
    setFound(undefined);
    const text = input.value.trim();
    if (!SECRET.test(text)) {
      change({ search: input.value });
      return;
    }
    // Nobody needs to see it any longer.
    input.value = "";
    change({ search: "" });
    const result = await call("keys/find-by-secret", { secret: text });
    if (id !== latest.current) return;
    // A dialog may have been opened meanwhile: a form or a secret.
    if (result.output === undefined || document.querySelector("dialog")) setFound(result);
    else location.hash = `keys/${result.output.key.id}`;
  };
  return (
    <>
      <div class="filters" role="search">
        <input
          type="search"
          aria-label="Search by label, id, hint or a pasted secret"
          placeholder="Label, id, hint or a pasted secret"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          value={query.search}
          onInput={({ currentTarget }) => void search(currentTarget)}
        />
        <select
          aria-label="Order"
          value={query.order}
          onChange={({ currentTarget }) =>
            change({ order: currentTarget.value === "use" ? "use" : "newest" })
          }
        >
          <option value="newest">Newest first</option>
          <option value="use">Most used first</option>
        </select>
        <select
          aria-label="Plan"
          value={query.plan ?? ""}
          onChange={({ currentTarget }) => change({ plan: currentTarget.value || undefined })}
        >
          <option value="">All plans</option>
          {Object.keys(info.plans).map((plan) => (
            <option key={plan} value={plan}>
              {plan}
            </option>
          ))}
        </select>
      </div>
      <div class="filters" role="group" aria-label="State">
        <StateFilter
          name="all"
          count={list?.counts.all}
          isOn={query.state === undefined}
          onClick={() => change({ state: undefined })}
        />
        {SHOWN_STATES.map((state) => (
          <StateFilter
            key={state}
            name={state}
            count={list?.counts[state]}
            isOn={query.state === state}
            onClick={() => change({ state })}
          />
        ))}
      </div>
      {found?.output && (
        <p role="status">
          The secret belongs to{" "}
          <a href={`#keys/${found.output.key.id}`}>
            <Label text={found.output.key.label} />
          </a>
          .
        </p>
      )}
      <Alert text={found?.problem?.message} />
    </>
  );
}

function StateFilter({
  name,
  count,
  isOn,
  onClick,
}: {
  readonly name: string;
  readonly count?: number | undefined;
  readonly isOn: boolean;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" class="filter" aria-pressed={isOn} onClick={onClick}>
      {name}
      {count !== undefined && <span class="numbers"> {count.toLocaleString()}</span>}
    </button>
  );
}
