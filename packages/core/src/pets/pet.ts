/** Every availability status, in the order of the specification ("PetStatus"). */
export const petStatuses = ["available", "pending", "sold"] as const;

/** An animal's availability status. */
export type PetStatus = (typeof petStatuses)[number];

/** The status of an animal that is added without one. */
export const DEFAULT_PET_STATUS: PetStatus = "available";

/** An animal that is to be added, validated and complete. */
export interface NewPet {
  /** The animal's name: well-formed text without NUL; the empty string is a name, too. */
  readonly name: string;
  /** The category that the animal belongs to, an int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** An animal in the inventory. */
export interface Pet extends NewPet {
  /** The identifier that the store assigned when the animal was added, an int64. */
  readonly id: bigint;
}

/** Whether a value is one of the three statuses, spelled exactly. */
export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.some((status) => status === value);
}
