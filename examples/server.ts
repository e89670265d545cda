import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";

const store = createPetStore();
const server = createPetStoreServer(store, {
  fallback: (_, response) => response.end("The host's own page."), // what is outside /v1
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void server.drain({ timeoutSeconds: 10 })); // requests under way are finished

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
