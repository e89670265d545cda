import { useEffect, useRef, useState } from "preact/hooks";
import type { Input } from "../inputs.js";
import { PAGE_SIZE, SHOWN_STATES, type KeyList, type ShownKey } from "../protocol.js";
import { call, usePolled, type CallResult } from "./call.js";
import { Alert, Button, Listing, optionsOf, Select, TextInput } from "./controls.js";
import type { Column, Option } from "./controls.js";
import { IssueDialog, type Shared } from "./key-dialogs.js";
import { Label, LAST_USE, STATES, Time, USAGE } from "./shown.js";

export type KeyQuery = Input<"keys/list">;

const COLUMNS: readonly Column<ShownKey>[] = [
  {
    heading: "Key",
    cell: (key) => (
      <>
        <KeyLink {...key} />
        <code>{key.hint}…</code>
      </>
    ),
  },
  { heading: "Plan", cell: ({ plan }) => plan },
  ...USAGE,
  LAST_USE,
  STATES,
];

function KeyLink({ id, label }: Pick<ShownKey, "id" | "label">) {
  return (
    <a href={`#keys/${id}`}>
      <Label text={label} />
    </a>
  );
}

interface KeysPageProps extends Shared {
  readonly query: KeyQuery;
  readonly setQuery: (query: KeyQuery) => void;
}

/** The query is kept by the caller, so that it is the same after a look at one key. */
export function KeysPage({ query, setQuery, ...shared }: KeysPageProps) {
  const { output: list, input, isCurrent, problem, reload } = usePolled("keys/list", query);
  const [isIssuing, setIssuing] = useState(false);
  const { page } = query;
  const lastPage = Math.max(0, Math.ceil((list?.matching ?? 0) / PAGE_SIZE) - 1);
  const change = (changed: Partial<KeyQuery>): void => setQuery({ ...query, page: 0, ...changed });
  useEffect(() => {
    if (isCurrent && page > lastPage) change({ page: lastPage });
  }, [isCurrent, query, lastPage]);
  const onClose = (): void => {
    setIssuing(false);
    reload();
  };
  return (
    <main>
      <div class="title">
        <h1>Keys</h1>
        <Button text="Issue a key" kind="primary" onClick={() => setIssuing(true)} />
      </div>
      <Filters info={shared.info} query={query} change={change} list={list} />
      <Alert text={problem?.message} />
      {list !== undefined && (
        <>
          <Listing
            kind="keys"
            isStale={problem !== undefined}
            columns={COLUMNS}
            rows={list.keys}
            now={list.now}
            range={range(list, input?.page ?? 0)}
            previous={page > 0 && (() => change({ page: page - 1 }))}
            next={isCurrent && page < lastPage && (() => change({ page: page + 1 }))}
          />
          {list.now - list.readAt > 5_000 && (
            <p class="faint">
              Found and ordered as of <Time at={list.readAt} now={list.now} />. What is shown of
              each key is current.
            </p>
          )}
        </>
      )}
      {isIssuing && <IssueDialog {...shared} onClose={onClose} />}
    </main>
  );
}

function range({ matching, total, keys }: KeyList, page: number): string {
  if (total === 0) return "There is no key yet.";
  if (matching === 0) return "No key matches.";
  if (keys.length === 0) return "No key on this page.";
  const first = page * PAGE_SIZE + 1;
  const last = first + keys.length - 1;
  const all = matching === total ? "" : ` (of ${total.toLocaleString()})`;
  return `${first.toLocaleString()} to ${last.toLocaleString()} of ${matching.toLocaleString()}${all}`;
}

const SECRET = /^pet_live_[0-9A-Za-z]{36}$/;

const ORDERS: readonly Option<KeyQuery["order"]>[] = [
  ["newest", "Newest first"],
  ["use", "Most used first"],
];

interface FiltersProps extends Pick<KeysPageProps, "info" | "query"> {
  readonly change: (changed: Partial<KeyQuery>) => void;
  readonly list: KeyList | undefined;
}

function Filters({ info, query, change, list }: FiltersProps) {
  const [found, setFound] = useState<CallResult<"keys/find-by-secret">>();
  const latest = useRef(0);
  useEffect(() => () => void (latest.current = Infinity), []);
  const search = async (typed: string): Promise<void> => {
    const id = ++latest.current;
    const { hash } = location;
    setFound(undefined);
    const secret = typed.trim();
    const isSecret = SECRET.test(secret);
    // A secret is not shown any longer than is needed.
    change({ search: isSecret ? "" : typed });
    if (!isSecret) return;
    const result = await call("keys/find-by-secret", { secret });
    // The address changes before the page that was left is gone.
    if (id !== latest.current || location.hash !== hash) return;
    // A dialog may have been opened meanwhile: a form or a secret.
    if (result.output === undefined || document.querySelector("dialog")) setFound(result);
    else location.hash = `keys/${result.output.key.id}`;
  };
  return (
    <>
      <div class="filters">
        <TextInput
          type="search"
          class="wide"
          aria-label="Search by label, id, hint or a pasted secret"
          placeholder="Label, id, hint or a pasted secret"
          spellcheck={false}
          maxLength={200}
          value={query.search}
          onValue={(text) => void search(text)}
        />
        <Select
          aria-label="Order"
          value={query.order}
          options={ORDERS}
          onValue={(order) => change({ order })}
        />
        <Select
          aria-label="Plan"
          value={query.plan}
          options={[[undefined, "All plans"], ...optionsOf(Object.keys(info.plans))]}
          onValue={(plan) => change({ plan })}
        />
      </div>
      <div class="filters" role="group" aria-label="State">
        {[undefined, ...SHOWN_STATES].map((state) => (
          <button
            key={state}
            type="button"
            class="filter"
            aria-pressed={query.state === state}
            onClick={() => change({ state })}
          >
            {state ?? "all"}
            {list && <span class="numbers"> {list.counts[state ?? "all"].toLocaleString()}</span>}
          </button>
        ))}
      </div>
      {found?.output && (
        <p role="status">
          The secret belongs to <KeyLink {...found.output.key} />.
        </p>
      )}
      <Alert text={found?.problem?.message} />
    </>
  );
}
