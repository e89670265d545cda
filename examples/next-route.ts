// In a Next application: app/api/v1/[[...path]]/route.ts, and in next.config:
// serverExternalPackages: ["@petstore/storage-sqlite"]
import { createPetStore } from "@petstore/core";
import { createFetchHandler, type FetchHandler } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const filename = process.env["PETSTORE_DATABASE"] ?? "pets.db";
// `next dev` runs this file again after each change of it; the store stays.
const kept: typeof globalThis & { petstore?: Promise<FetchHandler> | undefined } = globalThis;

// The first request opens the database, because `next build` imports this file too.
async function open(): Promise<FetchHandler> {
  const opened = await openSqliteStorage({ filename });
  if (opened.isOk()) {
    return createFetchHandler(createPetStore({ storage: opened.value }), { basePath: "/api/v1" });
  }
  kept.petstore = undefined; // the next request tries again
  throw new Error(opened.error.message);
}

const handle = async (request: Request) => (await (kept.petstore ??= open()))(request);

// Every method, so that the store and not Next responds with 405.
export { handle as GET, handle as HEAD, handle as POST, handle as PUT };
export { handle as PATCH, handle as DELETE, handle as OPTIONS };
