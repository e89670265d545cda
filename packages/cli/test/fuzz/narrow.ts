/**
 * Reduces a list whose whole fails to a short part that fails by itself: halves first, then smaller pieces.
 * Stops at the deadline (`isOver`) with the shortest part found so far.
 */
export async function narrow<T>(
  all: readonly T[],
  fails: (part: readonly T[]) => Promise<boolean>,
  isOver: () => boolean,
): Promise<readonly T[]> {
  let rest = all;
  let pieces = 2;
  while (rest.length > 1 && !isOver()) {
    const found = await firstThatFails(
      candidates(rest, Math.min(pieces, rest.length)),
      fails,
      isOver,
    );
    if (found !== undefined) {
      rest = found;
      pieces = 2;
    } else if (pieces >= rest.length) return rest;
    else pieces *= 2;
  }
  return rest;
}

/** Returns each piece alone, then everything without each piece. */
function candidates<T>(all: readonly T[], pieces: number): readonly (readonly T[])[] {
  const size = Math.ceil(all.length / pieces);
  const starts = Array.from({ length: Math.ceil(all.length / size) }, (_, index) => index * size);
  const alone = starts.map((start) => all.slice(start, start + size));
  const without = starts.map((start) => all.filter((_, at) => at < start || at >= start + size));
  return pieces === 2 ? alone : [...alone, ...without];
}

async function firstThatFails<T>(
  parts: readonly (readonly T[])[],
  fails: (part: readonly T[]) => Promise<boolean>,
  isOver: () => boolean,
): Promise<readonly T[] | undefined> {
  for (const part of parts) {
    if (isOver()) return undefined;
    if (await fails(part)) return part;
  }
  return undefined;
}
