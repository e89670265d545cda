import { createPet, getPet, listPets, type Pet } from "./made/index.ts";

export function connect(baseURL: string, key: string) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const options = { baseURL, headers };
  return {
    list: (query: { limit: number; after?: Pet["id"] }) => listPets(query, options).then(answer),
    create: (pet: { name: string; categoryId: Pet["categoryId"] }) =>
      createPet(pet, undefined, options).then(answer),
    get: (petId: Pet["id"]) => getPet(petId, options).then(answer),
  };
}

const answer = ({ status, data }: { status: number; data: unknown }) => ({ status, body: data });
