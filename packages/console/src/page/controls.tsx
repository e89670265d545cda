import type { ComponentChildren, JSX } from "preact";

interface ButtonProps {
  readonly text: string;
  readonly "aria-describedby"?: string;
  readonly kind?: string;
  readonly isOff?: boolean;
  readonly onClick: (() => void) | false;
}

/** A button that is off, or does nothing, keeps the focus. */
export function Button({ text, kind, isOff = false, onClick, ...more }: ButtonProps) {
  const act = isOff || !onClick ? undefined : onClick;
  return (
    <button type="button" class={kind} aria-disabled={!act} onClick={act} {...more}>
      {text}
    </button>
  );
}

interface FieldProps {
  /** Without it, the control needs an `aria-label`. */
  readonly field?: string | undefined;
  readonly hint?: string | undefined;
  readonly children: ComponentChildren;
}

function Field({ field, hint, children }: FieldProps) {
  if (field === undefined) return children;
  return (
    <label class="field">
      <span>
        {field} {hint !== undefined && <span class="faint">{hint}</span>}
      </span>
      {children}
    </label>
  );
}

type ControlProps<Value> = Omit<FieldProps, "children"> & {
  readonly onValue: (value: Value) => void;
};

type TextInputProps = JSX.IntrinsicElements["input"] & ControlProps<string>;

export function TextInput({ field, hint, onValue, ...more }: TextInputProps) {
  return (
    <Field field={field} hint={hint}>
      <input
        autocomplete="off"
        {...more}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </Field>
  );
}

interface SelectProps<Value> extends ControlProps<Value> {
  readonly "aria-label"?: string;
  readonly options: readonly Option<Value>[];
  readonly value: Value;
}

export function Select<Value extends string | number | undefined>(props: SelectProps<Value>) {
  const { field, hint, options, value, onValue } = props;
  return (
    <Field field={field} hint={hint}>
      <select
        aria-label={props["aria-label"]}
        value={value ?? ""}
        onChange={({ currentTarget }) => {
          const chosen = options[currentTarget.selectedIndex];
          if (chosen !== undefined) onValue(chosen[0]);
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each ?? ""}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

export type Option<Value> = readonly [value: Value, text: string];

export function optionsOf<Text extends string>(texts: readonly Text[]): readonly Option<Text>[] {
  return texts.map((text) => [text, text]);
}

/** Shows each field of a value and passes on its changes, so that a field that is missing does not compile. */
export type Controls<T> = {
  readonly [Field in keyof T]-?: (value: T, change: (changed: Partial<T>) => void) => JSX.Element;
};

export function Alert({ text }: { readonly text: string | undefined }) {
  return <div role="alert">{text !== undefined && <p class="alert">{text}</p>}</div>;
}

/** A column of a table, or a line about one row of it. `now` is the time of the store's clock. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row, now: number) => ComponentChildren;
}

interface ListingProps<Row> {
  readonly kind: string;
  /** Whether the rows could not be read again. */
  readonly isStale: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly now: number;
  readonly range: string;
  /** Without a function, there is no page in this direction. */
  readonly previous: (() => void) | false;
  readonly next: (() => void) | false;
}

/** A page of a table, whose first column names the rows; no table if it has no rows. */
export function Listing<Row extends { readonly id: string }>(props: ListingProps<Row>) {
  const { kind, isStale, columns, rows, now, range, previous, next } = props;
  return (
    <>
      {rows.length > 0 && (
        <table class={isStale ? `${kind} stale` : kind}>
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
                  const shown = { key: heading, "data-name": heading, children: cell(row, now) };
                  return index === 0 ? <th scope="row" {...shown} /> : <td {...shown} />;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <nav class="pager" aria-label="Pages">
        <span role="status">{range}</span>
        <Button text="Previous" onClick={previous} />
        <Button text="Next" onClick={next} />
      </nav>
    </>
  );
}
