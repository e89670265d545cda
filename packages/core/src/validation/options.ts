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
