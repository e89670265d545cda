/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    const children: readonly unknown[] = Object.values(value);
    children.forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
