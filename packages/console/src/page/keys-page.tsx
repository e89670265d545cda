import { useState } from "preact/hooks";
import {
  KEY_STATES,
  PAGE_SIZE,
  type KeyList,
  type KeyListInput,
  type Output,
  type ShownKey,
} from "../protocol.js";
import { call, usePolled } from "./call.js";
import { IssueDialog } from "./key-dialogs.js";
import { Alert, Label, Pager, States, Time, Usage } from "./shown.js";

/** The list of all keys. The query is kept by the caller, so that it is the same after a look at one key. */
export function KeysPage({
  info,
  query,
  setQuery,
}: {
  readonly info: Output<"info">;
  readonly query: KeyListInput;
  readonly setQuery: (query: KeyListInput) => void;
}) {
  const { output: list, problem, reload } = usePolled("keys/list", query);
  const [isIssuing, setIssuing] = useState(false);
  return (
    <main>
      <div class="title">
        <h1>Keys</h1>
        <button type="button" class="primary" onClick={() => setIssuing(true)}>
          Issue a key
        </button>
      </div>
      <Filters info={info} query={query} setQuery={setQuery} list={list} />
      <Alert text={problem?.message} />
      {list !== undefined && (
        <>
          <KeyTable list={list} isStale={problem !== undefined} />
          <Pager
            text={range(list, query.page)}
            previous={
              query.page > 0 ? () => setQuery({ ...query, page: query.page - 1 }) : undefined
            }
            next={
              (query.page + 1) * PAGE_SIZE < list.matching
                ? () => setQuery({ ...query, page: query.page + 1 })
                : undefined
            }
          />
          {list.now - list.readAt > 5_000 && (
            <p class="faint">
              Found and ordered as of <Time at={list.readAt} now={list.now} />. What is shown of
              each key is current.
            </p>
          )}
        </>
      )}
      {isIssuing && (
        <IssueDialog
          info={info}
          onClose={() => {
            setIssuing(false);
            reload();
          }}
        />
      )}
    </main>
  );
}

function range({ matching, total, keys }: KeyList, page: number): string {
  if (total === 0) return "There is no key yet.";
  if (matching === 0) return "No key matches.";
  const first = page * PAGE_SIZE + 1;
  const count = matching === total ? "" : ` (of ${total.toLocaleString()})`;
  return `${first.toLocaleString()} to ${(first + keys.length - 1).toLocaleString()} of ${matching.toLocaleString()}${count}`;
}

/** A secret as it is pasted. */
const SECRET = /^pet_live_[0-9A-Za-z]{36}$/;

function Filters({
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
  const [problem, setProblem] = useState<string>();
  const change = (changed: Partial<KeyListInput>): void =>
    setQuery({ ...query, page: 0, ...changed });
  const search = async (input: HTMLInputElement): Promise<void> => {
    setProblem(undefined);
    const text = input.value.trim();
    if (!SECRET.test(text)) {
      change({ search: input.value });
      return;
    }
    // Nobody needs to see it any longer.
    input.value = "";
    change({ search: "" });
    const found = await call("keys/find-by-secret", { secret: text });
    if (found.output) location.hash = `keys/${found.output.key.id}`;
    else setProblem(found.problem.message);
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
          isOn={query.state === undefined}
          onClick={() => change({ state: undefined })}
        />
        {KEY_STATES.map((state) => (
          <StateFilter
            key={state}
            name={state}
            count={list?.counts[state]}
            isOn={query.state === state}
            onClick={() => change({ state })}
          />
        ))}
      </div>
      <Alert text={problem} />
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

function KeyTable({
  list,
  isStale,
}: {
  readonly list: Output<"keys/list">;
  readonly isStale: boolean;
}) {
  const { keys, now } = list;
  if (keys.length === 0) return null;
  return (
    <table class={isStale ? "keys stale" : "keys"}>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Plan</th>
          <th scope="col">Minute</th>
          <th scope="col">Day</th>
          <th scope="col">Last use</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.id} shown={key} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function KeyRow({ shown, now }: { readonly shown: ShownKey; readonly now: number }) {
  const { id, hint, label, plan, usage, lastUsedAt } = shown;
  return (
    <tr>
      <th scope="row">
        <a href={`#keys/${id}`}>
          <Label text={label} />
        </a>
        <code>{hint}…</code>
      </th>
      <td data-name="Plan">{plan}</td>
      <td data-name="Minute">
        <Usage name="Minute" quota={usage.minute} now={now} />
      </td>
      <td data-name="Day">
        <Usage name="Day" quota={usage.day} now={now} />
      </td>
      <td data-name="Last use">
        {lastUsedAt === undefined ? (
          <span class="faint">never</span>
        ) : (
          <Time at={lastUsedAt} now={now} />
        )}
      </td>
      <td data-name="State">
        <States shown={shown} now={now} />
      </td>
    </tr>
  );
}
