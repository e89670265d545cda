import { createClient } from "./made/client/index.ts";
import { createPet, getPet, listPets } from "./made/sdk.gen.ts";
import type { Pet } from "./made/types.gen.ts";

export function connect(baseUrl: string, key: string) {
  const client = createClient({ baseUrl, auth: key });
  return {
    list: (query: { limit: number; after?: Pet["id"] }) => listPets({ client, query }).then(answer),
    create: (body: { name: string; categoryId: Pet["categoryId"] }) =>
      createPet({ client, body }).then(answer),
    get: (petId: Pet["id"]) => getPet({ client, path: { petId } }).then(answer),
  };
}

const answer = (of: { data?: unknown; error?: unknown; response?: Response }) => ({
  status: of.response?.status,
  body: of.data ?? of.error,
});
