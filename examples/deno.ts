import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: process.env["PETSTORE_DATABASE"] ?? "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
const handle = createFetchHandler(store, {
  clientAddress: (_, { remoteAddr }: Deno.ServeHandlerInfo) => remoteAddr.hostname,
});
const pattern = new URLPattern({ pathname: "/v1/*" }); // does not throw where `new URL` does
Deno.serve({ port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" }, (request, info) =>
  pattern.test(request.url) ? handle(request, info) : new Response("The host's own page."),
);

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
