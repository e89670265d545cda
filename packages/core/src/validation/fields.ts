/** Every field by its name, an optional one too, so that an object in which one is missing does not compile. */
export type EachField<T> = { readonly [Field in keyof T]-?: T[Field] };

export function keysOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table).filter((name): name is keyof Table & string => name in table);
}

/** Returns an own field, or `whenMissing` for none or `undefined`. Network input must not reach a prototype. */
export function ownField(input: unknown, name: string, whenMissing?: unknown): unknown {
  const isOwn = typeof input === "object" && input !== null && Object.hasOwn(input, name);
  const value: unknown = isOwn ? Reflect.get(input, name) : undefined;
  return value === undefined ? whenMissing : value;
}

/** Whether a value is an integer from `least` to `most`. */
export function isIntegerFrom(least: number, most: number, value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Returns the code of an error of the system or of a driver, such as `ENOENT`; an empty text for any other value. */
export function codeOf(error: unknown): string {
  const code = ownField(error, "code");
  return typeof code === "string" ? code : "";
}
