import type { Storage, StorageFailure } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import type { Connections } from "./connect.js";
import { failureOf } from "./failure.js";
import { createKeyStorage } from "./key-storage.js";
import { createPetStorage } from "./pet-storage.js";
import { createReader } from "./reader.js";
import { createPetsBatch } from "./pets-batch.js";
import { prepareApiKeyUsage } from "./tables/api-key-usage.js";
import { preparePetWrites } from "./tables/pets.js";
import { createUsageBatch } from "./usage-batch.js";
import { createUsageStorage } from "./usage-storage.js";
import { createWriteQueue } from "./write-queue.js";

/**
 * The storage over open connections. A call waits at most `deadline` milliseconds for another process
 * to let go of the database.
 */
export function createSqliteStorage(connections: Connections, deadline: number): Storage {
  const { durable, swift, blocking } = connections;
  const patience = { deadline, blocking };
  const pets = preparePetWrites(durable);
  const usageTable = prepareApiKeyUsage(swift);
  const inventory = createWriteQueue(durable, patience, () => createPetsBatch(pets));
  const usage = createWriteQueue(swift, patience, () => createUsageBatch(usageTable), inventory);

  let closing: ResultAsync<void, StorageFailure> | undefined;
  const read = createReader(swift, () => closing === undefined, usage);
  const close = async (): Promise<void> => {
    await Promise.all([inventory.close(), usage.close()]);
    connections.release();
  };

  return {
    pets: createPetStorage(inventory, swift, read),
    keys: createKeyStorage(durable, inventory, swift, read),
    usage: createUsageStorage(usage),
    close: () =>
      (closing ??= ResultAsync.fromPromise(close(), (error) =>
        failureOf("Closing the database", error),
      )),
  };
}
