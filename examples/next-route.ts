// In a Next application: app/api/v1/[[...path]]/route.ts
import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";

export const store = createPetStore();

const handler = createFetchHandler(store, { basePath: "/api/v1" });

// Every method, so that the store and not Next answers 405.
export { handler as GET, handler as HEAD, handler as POST, handler as PUT };
export { handler as PATCH, handler as DELETE, handler as OPTIONS };
