/** A good pet, 29 bytes long. */
export const PET = '{"name":"Rex","categoryId":1}';

/** A good pet of this many bytes. */
export function petOf(bytes: number): string {
  return PET.replace("Rex", "x".repeat(bytes - PET.length + "Rex".length));
}
