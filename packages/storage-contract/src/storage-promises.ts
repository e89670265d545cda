import { banned } from "./keys/banned.js";
import { keyOrder } from "./keys/order.js";
import { rotation } from "./keys/rotation.js";
import { roundTrip } from "./keys/round-trip.js";
import { keyThrowingDecision } from "./keys/throwing-decision.js";
import { keyUpdateAtomic } from "./keys/update-atomic.js";
import { keyUpdateMissing } from "./keys/update-missing.js";
import { keyUpdateNothing } from "./keys/update-nothing.js";
import { keyUpdate } from "./keys/update.js";
import { closeCompletes } from "./lifecycle/close-completes.js";
import { closeTwice } from "./lifecycle/close-twice.js";
import { closed } from "./lifecycle/closed.js";
import { reopening } from "./lifecycle/reopening.js";
import { sharedIds } from "./lifecycle/shared-ids.js";
import { sharing } from "./lifecycle/sharing.js";
import { after } from "./pets/after.js";
import { ascendingIds } from "./pets/ascending-ids.js";
import { createAllAtomic } from "./pets/create-all-atomic.js";
import { createAll } from "./pets/create-all.js";
import { findMissing } from "./pets/find-missing.js";
import { find } from "./pets/find.js";
import { ids } from "./pets/ids.js";
import { int64 } from "./pets/int64.js";
import { order } from "./pets/order.js";
import { paging } from "./pets/paging.js";
import { readYourWrites } from "./pets/read-your-writes.js";
import { statusFilter } from "./pets/status-filter.js";
import { text } from "./pets/text.js";
import type { StoragePromise } from "./storage-promise.js";
import { concurrentCharges } from "./usage/concurrent-charges.js";
import { holder } from "./usage/holder.js";
import { noNext } from "./usage/no-next.js";
import { usageRoundTrip } from "./usage/round-trip.js";
import { throwingDecision } from "./usage/throwing-decision.js";
import { twoHandles } from "./usage/two-handles.js";
import { twoSecrets } from "./usage/two-secrets.js";
import { unknownDigest } from "./usage/unknown-digest.js";
import { usageUpdateMissing } from "./usage/update-missing.js";

/** Every promise of the storage port. */
export const storagePromises: readonly StoragePromise[] = Object.freeze([
  ids,
  ascendingIds,
  int64,
  text,
  createAll,
  createAllAtomic,
  find,
  findMissing,
  order,
  statusFilter,
  paging,
  after,
  readYourWrites,
  roundTrip,
  keyOrder,
  banned,
  keyUpdate,
  keyUpdateMissing,
  keyUpdateNothing,
  keyUpdateAtomic,
  keyThrowingDecision,
  rotation,
  holder,
  unknownDigest,
  usageRoundTrip,
  concurrentCharges,
  twoSecrets,
  twoHandles,
  noNext,
  throwingDecision,
  usageUpdateMissing,
  closed,
  closeTwice,
  closeCompletes,
  reopening,
  sharing,
  sharedIds,
]);
