import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";

const store = createPetStore();
const server = createPetStoreServer(store, {
  fallback: (_, response) => response.end("The host's own page."), // what is not under /v1
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void stop());

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));

async function stop(): Promise<void> {
  await server.drain(10_000); // milliseconds for running requests to finish
  await store.close();
}
