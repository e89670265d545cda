// The pet store as its users get it: the built packages, every check and limit in place.
import { createServer } from "node:http";
import { createPetStore } from "@petstore/core";
import { mount, pollForRequests } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { listening } from "./pets-table.js";

const opened = await openSqliteStorage({ filename: process.env["DATABASE"] ?? ":memory:" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });

if (process.env["SEED"]) {
  const count = Number(process.env["SEED"]);
  for (let from = 0; from < count; from += 1_000) {
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - from) }, (_, index) =>
        store.trusted.createPet({ name: `pet ${from + index}`, categoryId: (from + index) % 50 }),
      ),
    );
  }
  const limits = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
  const issued = await store.keys.issue({ plan: "enterprise", limits });
  if (issued.isOk()) console.log(issued.value.secret);
}

const server = createServer();
mount(server, store);
if (process.env["POLL"]) pollForRequests(server);
listening(server);
