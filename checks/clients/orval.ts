import { createPet, getPet, listPets, type Pet } from "./made.ts";

export function connect(baseUrl: string, key: string) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const options = { headers };
  // Its functions call `fetch` with a path.
  const absolute = async (call: () => Promise<{ status: number; data: unknown }>) => {
    const { fetch } = globalThis;
    globalThis.fetch = (path, init) => fetch(`${baseUrl}${String(path)}`, init);
    const answering = call();
    globalThis.fetch = fetch;
    const { status, data } = await answering;
    return { status, body: data };
  };
  return {
    list: (query: { limit: number; after?: Pet["id"] }) => absolute(() => listPets(query, options)),
    create: (pet: { name: string; categoryId: Pet["categoryId"] }) =>
      absolute(() => createPet(pet, options)),
    get: (petId: Pet["id"]) => absolute(() => getPet(petId, options)),
  };
}
