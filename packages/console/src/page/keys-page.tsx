import { useEffect, useState } from "preact/hooks";
import {
  PAGE_SIZE,
  WINDOWS,
  type KeyList,
  type KeyListInput,
  type Output,
  type ShownKey,
} from "../protocol.js";
import { usePolled } from "./call.js";
import { KeyFilters } from "./key-filters.js";
import { IssueDialog } from "./key-dialogs.js";
import type { Secrets } from "./secrets.js";
import { Alert, Button, Label, Pager, States, Time, titled, Usage } from "./shown.js";

/** The list of all keys. The query is kept by the caller, so that it is the same after a look at one key. */
export function KeysPage({
  info,
  secrets,
  query,
  setQuery,
}: {
  readonly info: Output<"info">;
  readonly secrets: Secrets;
  readonly query: KeyListInput;
  readonly setQuery: (query: KeyListInput) => void;
}) {
  const { output: list, input, isCurrent, problem, reload } = usePolled("keys/list", query);
  const [isIssuing, setIssuing] = useState(false);
  const lastPage = Math.max(0, Math.ceil((list?.matching ?? 0) / PAGE_SIZE) - 1);
  useEffect(() => {
    if (isCurrent && query.page > lastPage) setQuery({ ...query, page: lastPage });
  }, [isCurrent, query, lastPage]);
  return (
    <main>
      <div class="title">
        <h1>Keys</h1>
        <Button kind="primary" onClick={() => setIssuing(true)}>
          Issue a key
        </Button>
      </div>
      <KeyFilters info={info} query={query} setQuery={setQuery} list={list} />
      <Alert text={problem?.message} />
      {list !== undefined && (
        <>
          <KeyTable list={list} isStale={problem !== undefined} />
          <Pager
            text={range(list, input?.page ?? 0)}
            previous={
              query.page > 0 ? () => setQuery({ ...query, page: query.page - 1 }) : undefined
            }
            next={
              isCurrent && query.page < lastPage
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
          secrets={secrets}
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
  if (keys.length === 0) return "No key on this page.";
  const first = page * PAGE_SIZE + 1;
  const count = matching === total ? "" : ` (of ${total.toLocaleString()})`;
  return `${first.toLocaleString()} to ${(first + keys.length - 1).toLocaleString()} of ${matching.toLocaleString()}${count}`;
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
          {WINDOWS.map((name) => (
            <th key={name} scope="col">
              {titled(name)}
            </th>
          ))}
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
      {WINDOWS.map((name) => (
        <td key={name} data-name={titled(name)}>
          <Usage name={titled(name)} quota={usage[name]} now={now} />
        </td>
      ))}
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
