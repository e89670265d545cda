/**
 * The first index below `length` from which on something holds, or `length` when it never does.
 * `holds` is false up to some index and true from there on.
 */
export function firstIndexWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
