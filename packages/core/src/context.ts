import type { ReadClock } from "./clock.js";
import type { Emit } from "./events.js";
import type { AnonymousBuckets } from "./limits/anonymous.js";
import type { BanRule } from "./limits/ban.js";
import type { Plans } from "./limits/plan.js";
import type { RandomSource } from "./random.js";
import type { Storage } from "./storage/storage.js";

/** The parts of a store that its operations use. */
export interface Context {
  readonly storage: Storage;
  readonly plans: Plans;
  /** `undefined`: keys are never banned. */
  readonly ban: BanRule | undefined;
  readonly anonymous: AnonymousBuckets;
  readonly random: RandomSource;
  /** Returns the id of a key that is issued at this time. */
  readonly newKeyId: (now: number) => string;
  readonly readClock: ReadClock;
  readonly emit: Emit;
}
