import createClient from "openapi-fetch";
import type { components, paths } from "./made.ts";

type Pet = components["schemas"]["Pet"];

export function connect(baseUrl: string, key: string) {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  return {
    list: (query: { limit: number; after?: Pet["id"] }) =>
      client.GET("/pets", { params: { query } }).then(answer),
    create: (pet: { name: string; categoryId: Pet["categoryId"] }) =>
      client.POST("/pets", { body: pet }).then(answer),
    get: (petId: Pet["id"]) =>
      client.GET("/pets/{petId}", { params: { path: { petId } } }).then(answer),
  };
}

const answer = (of: { data?: unknown; error?: unknown; response: Response }) => ({
  status: of.response.status,
  body: of.data ?? of.error,
});
