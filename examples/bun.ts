import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: process.env["PETSTORE_DATABASE"] ?? "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
const handle = createFetchHandler(store, {
  clientAddress: (request, server: Bun.Server) => server.requestIP(request)?.address,
});
Bun.serve({
  port: Number(process.env["PORT"] ?? 3000),
  hostname: "127.0.0.1",
  routes: { "/v1/*": handle },
  fetch: () => new Response("The host's own page."),
});

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
