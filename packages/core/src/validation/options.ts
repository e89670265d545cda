import * as v from "valibot";
import { isIntegerFrom } from "./fields.js";

interface Issue {
  readonly message: string;
  readonly path?: readonly { readonly key: unknown }[] | undefined;
}

/** The part of the result of valibot's `safeParse` that is used here: the declarations of hosts do not know valibot. */
type Checked<Output> =
  | { readonly success: true; readonly output: Output }
  | { readonly success: false; readonly issues: readonly Issue[] };

/** Returns checked options. @throws TypeError that names each wrong option, and the first unknown one, of `owner`. */
export function checkedOptions<Output>(owner: string, checked: Checked<Output>): Output {
  if (checked.success) return checked.output;
  const problems = checked.issues.map(({ message, path }) =>
    path === undefined
      ? "the options must be an object"
      : `option ${path.map(({ key }) => key).join(".")} ${message}`,
  );
  throw new TypeError(`${owner}: ${problems.join("; ")}`);
}

/** Returns a schema of an object with these fields and no others; not an array. */
export function strictRecord<Entries extends v.ObjectEntries>(entries: Entries) {
  const isRecord = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const unknown = `is unknown; known are ${Object.keys(entries).join(", ")}`;
  const message = ({ expected }: v.StrictObjectIssue): string =>
    expected === "never" ? unknown : "is missing";
  const own = { ...entries };
  // Otherwise a field called `constructor` would be known.
  Object.setPrototypeOf(own, null);
  return v.pipe(v.custom<object>(isRecord, "must be an object"), v.strictObject(own, message));
}

export function integer(
  least: number,
  most: number,
  message = `must be an integer from ${least} to ${most}`,
) {
  return v.custom<number>((value) => isIntegerFrom(least, most, value), message);
}
