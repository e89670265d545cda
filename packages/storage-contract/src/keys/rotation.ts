import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, aSecret } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const rotation: StoragePromise = {
  name: "knows an API key by each secret it lists, and by none it lists no longer",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a", { secrets: [aSecret("first")] })));
    const holderOf = (digest: string) =>
      valueOf(storage.usage.charge(digest, (holder) => ({ result: holder })));
    const rotate = (...digests: readonly string[]) =>
      valueOf(
        storage.keys.update("a", (shown) => ({
          next: shown && {
            ...shown,
            secrets: digests.map((digest, index) =>
              aSecret(digest, { expiresAt: index || undefined }),
            ),
          },
          result: undefined,
        })),
      );

    await rotate("second", "first");
    assert.deepEqual(
      (await valueOf(storage.keys.find("a")))?.key.secrets.map(({ digest }) => digest),
      ["second", "first"],
      "secrets stay in their order, newest first",
    );
    assert.equal((await holderOf("second"))?.secretExpiresAt, undefined);
    assert.equal((await holderOf("first"))?.secretExpiresAt, 1);

    await rotate("third");
    assert.equal((await holderOf("third"))?.key.id, "a");
    assert.equal(await holderOf("second"), undefined);
    assert.equal(await holderOf("first"), undefined);
  },
};
