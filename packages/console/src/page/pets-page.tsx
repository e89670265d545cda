import type { PetStatus } from "@petstore/core";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ShownPet } from "../protocol.js";
import { call, usePolled } from "./call.js";
import { Dialog, DialogForm, Field } from "./dialog.js";
import { Alert, Button, Label, Pager } from "./shown.js";

const STATUSES: readonly PetStatus[] = ["available", "pending", "sold"];
const LIMIT = 50;
const LAST_ID = 2n ** 63n - 1n;

/** The column of each field of a pet. */
const COLUMNS: {
  readonly [Field in keyof ShownPet]-?: {
    readonly heading: string;
    readonly cell: (pet: ShownPet) => ComponentChildren;
  };
} = {
  id: { heading: "Id", cell: ({ id }) => <code>{id}</code> },
  name: { heading: "Name", cell: ({ name }) => <Name text={name} /> },
  categoryId: { heading: "Category", cell: ({ categoryId }) => <code>{categoryId}</code> },
  status: { heading: "Status", cell: ({ status }) => status },
};

/** The pets, in ascending order of id. */
export function PetsPage() {
  const [status, setStatus] = useState<PetStatus>();
  const [from, setFrom] = useState("");
  // The ids after which the next pages begin, up to the one that is shown.
  const [starts, setStarts] = useState<readonly string[]>([]);
  const [isAdding, setAdding] = useState(false);
  const isId = /^0*[1-9]\d*$/.test(from) && BigInt(from) <= LAST_ID;
  const isWrong = from !== "" && !isId;
  const after = starts.at(-1) ?? (isId ? String(BigInt(from) - 1n) : undefined);
  const query = { status, after, limit: LIMIT };
  const { output, isCurrent, problem, reload } = usePolled("pets/list", query);
  const next = output?.next;
  const isStale = problem !== undefined;
  return (
    <main>
      <div class="title">
        <h1>Pets</h1>
        <Button kind="primary" onClick={() => setAdding(true)}>
          Add a pet
        </Button>
      </div>
      <div class="filters">
        <select
          aria-label="Status"
          value={status ?? ""}
          onChange={({ currentTarget }) => {
            setStatus(STATUSES.find((each) => each === currentTarget.value));
            setStarts([]);
          }}
        >
          <option value="">All statuses</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <input
          type="search"
          inputMode="numeric"
          aria-label="From id"
          aria-invalid={isWrong}
          placeholder="From id"
          autocomplete="off"
          value={from}
          onInput={({ currentTarget }) => {
            setFrom(currentTarget.value.trim());
            setStarts([]);
          }}
        />
      </div>
      <Alert text={isWrong ? `An id is a whole number from 1 to ${LAST_ID}.` : problem?.message} />
      {output !== undefined && !isWrong && (
        <>
          {output.pets.length > 0 && (
            <table class={isStale ? "pets stale" : "pets"}>
              <thead>
                <tr>
                  {Object.values(COLUMNS).map(({ heading }) => (
                    <th key={heading} scope="col">
                      {heading}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {output.pets.map((pet) => (
                  <tr key={pet.id}>
                    {Object.values(COLUMNS).map(({ heading, cell }, index) =>
                      index === 0 ? (
                        <th key={heading} scope="row" data-name={heading}>
                          {cell(pet)}
                        </th>
                      ) : (
                        <td key={heading} data-name={heading}>
                          {cell(pet)}
                        </td>
                      ),
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <Pager
            text={range(output.pets)}
            previous={starts.length > 0 ? () => setStarts(starts.slice(0, -1)) : undefined}
            next={isCurrent && next !== undefined ? () => setStarts([...starts, next]) : undefined}
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

function Name({ text }: { readonly text: string }) {
  return <Label text={text} none={text === "" ? "empty name" : "blank name"} />;
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [categoryId, setCategoryId] = useState("");
  const [status, setStatus] = useState<PetStatus>("available");
  const [added, setAdded] = useState<string>();
  const add = async (key: string) => {
    const pet: { readonly [Field in keyof Omit<ShownPet, "id">]-?: ShownPet[Field] } = {
      name,
      categoryId,
      status,
    };
    const { output, problem } = await call("pets/add", pet, key);
    setAdded(output?.pet.id);
    return problem;
  };
  if (added !== undefined) {
    return (
      <Dialog title="Add a pet" onClose={onClose}>
        <p role="status">
          <Name text={name} /> was added with the id <code>{added}</code>.
        </p>
        <p class="buttons end">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </p>
      </Dialog>
    );
  }
  return (
    <DialogForm title="Add a pet" submit="Add" onSubmit={add} onClose={onClose}>
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
  );
}
