/** Whether one version of SQLite, such as `3.51.3`, came before another. */
export function isOlder(version: string, other: string): boolean {
  const others = other.split(".").map(Number);
  const difference = version
    .split(".")
    .map((part, index) => Number(part) - (others[index] ?? 0))
    .find((each) => each !== 0);
  return (difference ?? 0) < 0;
}
