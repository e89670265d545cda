/** Returns an object's own field; `undefined` if there is none. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
