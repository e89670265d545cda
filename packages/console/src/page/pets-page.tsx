import { parseInt64, petStatuses } from "@petstore/core/facts";
import { useState } from "preact/hooks";
import type { Input } from "../inputs.js";
import type { ShownPet } from "../protocol.js";
import { call, usePolled } from "./call.js";
import { Alert, Button, Listing, optionsOf, Select, TextInput } from "./controls.js";
import type { Column, Controls } from "./controls.js";
import { Dialog, DialogForm } from "./dialog.js";
import { Label } from "./shown.js";

const LIMIT = 50;
const STATUSES = optionsOf(petStatuses);

const COLUMNS: { readonly [Field in keyof ShownPet]-?: Column<ShownPet> } = {
  id: { heading: "Id", cell: ({ id }) => <code>{id}</code> },
  name: { heading: "Name", cell: ({ name }) => <Name text={name} /> },
  categoryId: { heading: "Category", cell: ({ categoryId }) => <code>{categoryId}</code> },
  status: { heading: "Status", cell: ({ status }) => status },
};

type Filters = Omit<Input<"pets/list">, "after" | "limit">;

const FILTERS: Controls<Filters> = {
  status: ({ status }, change) => (
    <Select
      aria-label="Status"
      value={status}
      options={[[undefined, "All statuses"], ...STATUSES]}
      onValue={(status) => change({ status })}
    />
  ),
};

interface View extends Filters {
  /** The first id of the first page, as typed. */
  readonly from: string;
  /** The ids after which the next pages begin, up to the one that is shown. */
  readonly starts: readonly string[];
}

export function PetsPage() {
  const [view, setView] = useState<View>({ from: "", starts: [] });
  const [isAdding, setAdding] = useState(false);
  const { from, starts, ...filters } = view;
  const change = (changed: Partial<View>): void => setView({ ...view, starts: [], ...changed });
  const first = parseInt64(from.replace(/^0+(?=\d)/, "")) ?? 0n;
  const isWrong = from !== "" && first < 1n;
  const after = starts.at(-1) ?? (first < 1n ? undefined : String(first - 1n));
  const query = { ...filters, after, limit: LIMIT };
  const { output, isCurrent, problem } = usePolled("pets/list", query);
  const next = output?.next;
  return (
    <main>
      <div class="title">
        <h1>Pets</h1>
        <Button text="Add a pet" kind="primary" onClick={() => setAdding(true)} />
      </div>
      <div class="filters">
        {Object.values(FILTERS).map((control) => control(filters, change))}
        <TextInput
          type="search"
          inputMode="numeric"
          aria-label="From id"
          aria-invalid={isWrong}
          placeholder="From id"
          value={from}
          onValue={(text) => change({ from: text.trim() })}
        />
      </div>
      <Alert text={isWrong ? NO_ID : problem?.message} />
      {output !== undefined && !isWrong && (
        <Listing
          kind="pets"
          isStale={problem !== undefined}
          columns={Object.values(COLUMNS)}
          rows={output.pets}
          now={output.now}
          range={range(output.pets)}
          previous={starts.length > 0 && (() => change({ starts: starts.slice(0, -1) }))}
          next={isCurrent && next !== undefined && (() => change({ starts: [...starts, next] }))}
        />
      )}
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </main>
  );
}

const NO_ID = "An id is a whole number from 1 to 9223372036854775807.";

function range(pets: readonly ShownPet[]): string {
  const first = pets[0];
  const last = pets.at(-1);
  return first && last ? `Ids ${first.id} to ${last.id}` : "No pet here.";
}

function Name({ text }: { readonly text: string }) {
  return <Label text={text} none={text === "" ? "empty name" : "blank name"} />;
}

type NewPet = Input<"pets/add">;

const FIELDS: Controls<NewPet> = {
  name: ({ name }, change) => (
    <TextInput field="Name" autofocus value={name} onValue={(name) => change({ name })} />
  ),
  categoryId: ({ categoryId }, change) => (
    <TextInput
      field="Category"
      hint="an id: a whole number"
      required
      inputMode="numeric"
      value={categoryId}
      onValue={(text) => change({ categoryId: text.trim() })}
    />
  ),
  status: ({ status }, change) => (
    <Select
      field="Status"
      value={status}
      options={STATUSES}
      onValue={(status) => change({ status })}
    />
  ),
};

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const [pet, setPet] = useState<NewPet>({ name: "", categoryId: "", status: "available" });
  const [added, setAdded] = useState<ShownPet>();
  const change = (changed: Partial<NewPet>): void => setPet({ ...pet, ...changed });
  if (added !== undefined) {
    return (
      <Dialog title="Add a pet" onClose={onClose}>
        <p role="status">
          <Name text={added.name} /> was added with the id <code>{added.id}</code>.
        </p>
        <p class="buttons end">
          <Button text="Close" kind="primary" onClick={onClose} />
        </p>
      </Dialog>
    );
  }
  return (
    <DialogForm
      title="Add a pet"
      send={(idempotencyKey) => call("pets/add", pet, idempotencyKey)}
      onDone={({ pet }) => setAdded(pet)}
      onClose={onClose}
    >
      {Object.values(FIELDS).map((control) => control(pet, change))}
    </DialogForm>
  );
}
