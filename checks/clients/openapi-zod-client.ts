import { isAxiosError } from "axios";
import { createApiClient } from "./made.ts";

export function connect(baseUrl: string, key: string) {
  const axiosConfig = { headers: { Authorization: `Bearer ${key}` } };
  const client = createApiClient(baseUrl, { axiosConfig, validate: "response" });
  return {
    list: (queries: { limit: number; after?: number }) =>
      answer(200, client.get("/pets", { queries })),
    create: (pet: { name: string; categoryId: number }) => answer(201, client.post("/pets", pet)),
    get: (petId: number) => answer(200, client.get("/pets/:petId", { params: { petId } })),
  };
}

async function answer(status: number, answering: Promise<unknown>) {
  try {
    return { status, body: await answering };
  } catch (error) {
    if (!isAxiosError(error)) throw error;
    return { status: error.response?.status, body: error.response?.data as unknown };
  }
}
