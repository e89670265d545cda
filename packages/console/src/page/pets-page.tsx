import type { PetStatus } from "@petstore/core";
import { useState } from "preact/hooks";
import { call, usePolled } from "./call.js";
import { Dialog, DialogForm, Field } from "./dialog.js";
import { Alert, Label, Pager } from "./shown.js";

const STATUSES: readonly PetStatus[] = ["available", "pending", "sold"];
const LIMIT = 50;

/** The pets, in ascending order of id. */
export function PetsPage() {
  const [status, setStatus] = useState<PetStatus>();
  // The ids after which the pages begin, from the first one to the one that is shown.
  const [starts, setStarts] = useState<readonly (string | undefined)[]>([undefined]);
  const [isAdding, setAdding] = useState(false);
  const after = starts.at(-1);
  const { output, problem, reload } = usePolled("pets/list", { status, after, limit: LIMIT });
  const isStale = problem !== undefined;
  return (
    <main>
      <div class="title">
        <h1>Pets</h1>
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          Add a pet
        </button>
      </div>
      <div class="filters">
        <select
          aria-label="Status"
          value={status ?? ""}
          onChange={({ currentTarget }) => {
            setStatus(STATUSES.find((each) => each === currentTarget.value));
            setStarts([undefined]);
          }}
        >
          <option value="">All statuses</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <StartField
          onChange={(start) => setStarts(start === undefined ? [undefined] : [undefined, start])}
        />
      </div>
      <Alert text={problem?.message} />
      {output !== undefined && (
        <>
          {output.pets.length > 0 && (
            <table class={isStale ? "pets stale" : "pets"}>
              <thead>
                <tr>
                  <th scope="col">Id</th>
                  <th scope="col">Name</th>
                  <th scope="col">Category</th>
                  <th scope="col">Status</th>
                </tr>
              </thead>
              <tbody>
                {output.pets.map(({ id, name, categoryId, status: each }) => (
                  <tr key={id}>
                    <th scope="row">
                      <code>{id}</code>
                    </th>
                    <td data-name="Name">
                      {name === "" ? <span class="faint">empty name</span> : <Label text={name} />}
                    </td>
                    <td data-name="Category">
                      <code>{categoryId}</code>
                    </td>
                    <td data-name="Status">{each}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <Pager
            text={range(output.pets)}
            previous={starts.length > 1 ? () => setStarts(starts.slice(0, -1)) : undefined}
            next={output.next === undefined ? undefined : () => setStarts([...starts, output.next])}
          />
        </>
      )}
      {isAdding && (
        <AddDialog
          onClose={() => {
            setAdding(false);
            reload();
          }}
        />
      )}
    </main>
  );
}

function range(pets: readonly { readonly id: string }[]): string {
  const [first] = pets;
  if (first === undefined) return "No pet here.";
  return `Ids ${first.id} to ${pets.at(-1)?.id ?? ""}`;
}

/** Starts the list at an id. */
function StartField({ onChange }: { readonly onChange: (after: string | undefined) => void }) {
  return (
    <input
      type="search"
      inputMode="numeric"
      aria-label="From id"
      placeholder="From id"
      autocomplete="off"
      maxLength={19}
      onInput={({ currentTarget }) => {
        const isId = /^[1-9]\d{0,18}$/.test(currentTarget.value);
        onChange(isId ? String(BigInt(currentTarget.value) - 1n) : undefined);
      }}
    />
  );
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [categoryId, setCategoryId] = useState("");
  const [status, setStatus] = useState<PetStatus>("available");
  const [added, setAdded] = useState<string>();
  const add = async () => {
    const { output, problem } = await call("pets/add", { name, categoryId, status });
    setAdded(output?.pet.id);
    return problem;
  };
  return (
    <Dialog title="Add a pet" onClose={onClose}>
      {added === undefined ? (
        <DialogForm submit="Add" onSubmit={add} onCancel={onClose}>
          <Field name="Name">
            <input
              autocomplete="off"
              autofocus
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </Field>
          <Field name="Category" hint="an id: a whole number">
            <input
              required
              inputMode="numeric"
              autocomplete="off"
              value={categoryId}
              onInput={({ currentTarget }) => setCategoryId(currentTarget.value.trim())}
            />
          </Field>
          <Field name="Status">
            <select
              value={status}
              onChange={({ currentTarget }) =>
                setStatus(STATUSES.find((each) => each === currentTarget.value) ?? "available")
              }
            >
              {STATUSES.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </Field>
        </DialogForm>
      ) : (
        <>
          <p role="status">
            <Label text={name} /> was added with the id <code>{added}</code>.
          </p>
          <p class="buttons">
            <button type="button" class="primary" onClick={onClose}>
              Close
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
}
