/** Read in the place of what throws when it is read: no field takes it. */
const UNREADABLE = Symbol("unreadable");

/**
 * The value of an input's own field or element; `whenMissing` when there is none, or `undefined`. It is
 * to be read once: the next time a getter or a proxy may answer something else. What throws is answered
 * as a value that is wrong for every field.
 */
export function ownField(input: object, name: string | number, whenMissing?: unknown): unknown {
  try {
    const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
    return value === undefined ? whenMissing : value;
  } catch {
    return UNREADABLE;
  }
}

/** The names of an input's own fields; `undefined` when they cannot be read. */
export function fieldNames(input: object): readonly string[] | undefined {
  try {
    return Object.keys(input);
  } catch {
    return undefined;
  }
}

/** Whether an input can have fields: whether it is an object, of whatever kind. */
export function isObject(input: unknown): input is object {
  return typeof input === "object" && input !== null;
}

/** Whether an input is an array; a proxy that was revoked is none. */
export function isArray(input: unknown): input is readonly unknown[] {
  try {
    return Array.isArray(input);
  } catch {
    return false;
  }
}

/** A Date's time in milliseconds since the Unix epoch; any other value itself. */
export function timeOf(value: unknown): unknown {
  try {
    return value instanceof Date ? Date.prototype.getTime.call(value) : value;
  } catch {
    return UNREADABLE;
  }
}
