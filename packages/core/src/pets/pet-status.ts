/** Every availability status, in the order of the specification ("PetStatus"). */
export const petStatuses = ["available", "pending", "sold"] as const;

/** A pet's availability status. */
export type PetStatus = (typeof petStatuses)[number];

/** Whether a value is one of the three statuses, spelled exactly. */
export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.some((status) => status === value);
}
