import { PAGE_LIMIT, type PetStatus, type TrustedPets } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../store-error.js";
import type { PetFormat } from "./pet-format.js";

/** How to export. */
export interface ExportPlan {
  readonly format: PetFormat;
  /** Only pets with this status; all when left out. */
  readonly status: PetStatus | undefined;
  /** Writes text, and waits until more may follow. `Err` ends the export. */
  write(text: string): Promise<Result<void, string>>;
  /** Told how many pets are written. */
  onPage(pets: number): void;
}

/**
 * Writes all pets in ascending order of id, page after page: all that are there when it begins, and
 * perhaps later ones. Answers how many; `Err` says why it ended before.
 */
export async function exportPets(
  store: Pick<TrustedPets, "listPets">,
  plan: ExportPlan,
): Promise<Result<number, string>> {
  const { format, status } = plan;
  let written = 0;
  let after: bigint | undefined;
  let text = format.heading;
  do {
    const page = await store.listPets({ limit: PAGE_LIMIT.maximum, status, after });
    if (page.isErr()) return err(describeStoreError(page.error));
    const { pets, next } = page.value;
    text += pets.map((pet) => format.encode(pet)).join("");
    const done = await plan.write(text);
    if (done.isErr()) return err(done.error);
    written += pets.length;
    plan.onPage(written);
    text = "";
    after = next;
  } while (after !== undefined);
  return ok(written);
}
