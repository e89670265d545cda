/** Every availability status, in the order of the specification ("PetStatus"). */
export const petStatuses = ["available", "pending", "sold"] as const;

/** A pet's availability status. */
export type PetStatus = (typeof petStatuses)[number];

/** The status of a pet that is added without one. */
export const DEFAULT_PET_STATUS: PetStatus = "available";

/** A new pet, validated and complete. */
export interface NewPet {
  /** The name: well-formed text without NUL; may be empty. */
  readonly name: string;
  /** An int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** A pet in the inventory. */
export interface Pet extends NewPet {
  /** Assigned by the store when the pet was added; an int64. */
  readonly id: bigint;
}

/** Whether a value is one of the three statuses, spelled exactly. */
export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.some((status) => status === value);
}
