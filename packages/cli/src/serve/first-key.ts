import type { PetStore } from "@petstore/core";
import { describeStoreError } from "../store-error.js";
import type { Terminal } from "../terminal.js";

/** Issues a Free key when the store holds none yet, and prints a line that uses it. */
export async function issueFirstKey(
  store: PetStore,
  url: string,
  terminal: Terminal,
): Promise<void> {
  const present = await store.keys.list({ limit: 1 });
  if (present.isErr() || present.value.keys.length > 0) return;
  const issued = await store.keys.issue({ plan: "free", label: "first key" });
  issued.match(
    ({ secret }) => {
      terminal.out("");
      terminal.out(
        "No API key yet: here is a first one, on the Free plan, shown this once. Try it:",
      );
      terminal.out("");
      terminal.out(`  curl -i -H "Authorization: Bearer ${secret}" ${url}/pets`);
      terminal.out("");
    },
    (error) =>
      terminal.error(`petstore: no first key could be issued: ${describeStoreError(error)}`),
  );
}
