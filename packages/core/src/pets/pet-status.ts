/** Every availability status, in the order of the specification ("PetStatus"). */
export const petStatuses = ["available", "pending", "sold"] as const;

export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.some((status) => status === value);
}
