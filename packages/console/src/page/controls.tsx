import type { ComponentChildren, JSX } from "preact";

/** A button. One that is off keeps the focus, and a press has no effect. */
export function Button({
  kind = "",
  isOff = false,
  onClick,
  children,
}: {
  readonly kind?: string;
  readonly isOff?: boolean;
  readonly onClick: (() => void) | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class={kind} aria-disabled={isOff} onClick={isOff ? undefined : onClick}>
      {children}
    </button>
  );
}

/** What a control shows, and what receives a change of it. */
interface Changed<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

type Attributes<Tag extends "input" | "select"> = Omit<
  JSX.IntrinsicElements[Tag],
  "type" | "value" | "onChange" | "role"
>;

/** A field for text. */
export function TextInput({
  type = "text",
  onChange,
  ...more
}: Attributes<"input"> &
  Changed<string> & { readonly type?: "text" | "search" | "number" | "datetime-local" }) {
  return (
    <input
      type={type}
      autocomplete="off"
      {...more}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** A choice of values, each with its text. */
export function Select<Value extends string | number | undefined>({
  options,
  value,
  onChange,
  ...more
}: Attributes<"select"> & Changed<Value> & { readonly options: readonly Option<Value>[] }) {
  return (
    <select
      {...more}
      value={value ?? ""}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen !== undefined) onChange(chosen[0]);
      }}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each ?? ""}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A value and its text. */
export type Option<Value> = readonly [value: Value, text: string];

/** Returns options whose texts are their values. */
export function optionsOf<Value extends string>(
  values: readonly Value[],
): readonly Option<Value>[] {
  return values.map((value) => [value, value]);
}

/** A field with its name and a hint. */
export function Field({
  name,
  hint,
  children,
}: {
  readonly name: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>
        {name} {hint !== undefined && <span class="faint">{hint}</span>}
      </span>
      {children}
    </label>
  );
}

/** What shows each field of a value and passes on its changes, so that a field that is missing does not compile. */
export type Controls<T> = {
  readonly [Field in keyof T]-?: (value: T, change: (changed: Partial<T>) => void) => JSX.Element;
};

/** A message that a screen reader announces. */
export function Alert({ text }: { readonly text: string | undefined }) {
  return <div role="alert">{text !== undefined && <p class="alert">{text}</p>}</div>;
}

/** A column of a table, or a line about one row of it. `now` is the time of the store's clock. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row, now: number) => ComponentChildren;
}

/** A table, whose first column names the rows; nothing if it has no rows. */
export function Table<Row extends { readonly id: string }>({
  kind,
  columns,
  rows,
  now,
}: {
  readonly kind: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly now: number;
}) {
  if (rows.length === 0) return null;
  return (
    <table class={kind}>
      <thead>
        <tr>
          {columns.map(({ heading }) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(({ heading, cell }, index) => {
              const attributes = { key: heading, "data-name": heading, children: cell(row, now) };
              return index === 0 ? <th scope="row" {...attributes} /> : <td {...attributes} />;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Leads to other pages of a list. A direction without a function has no page. */
export function Pager({
  text,
  previous,
  next,
}: {
  readonly text: string;
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}) {
  return (
    <nav class="pager" aria-label="Pages">
      <span role="status">{text}</span>
      <Button isOff={previous === undefined} onClick={previous}>
        Previous
      </Button>
      <Button isOff={next === undefined} onClick={next}>
        Next
      </Button>
    </nav>
  );
}
