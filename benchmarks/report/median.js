/** @param {readonly number[]} all */
export function median(all) {
  const sorted = all.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
