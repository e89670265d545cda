import type { ClockReader } from "./clock.js";
import type { Emit } from "./events/events.js";
import type { StoredApiKey } from "./keys/api-key.js";
import type { AnonymousBuckets } from "./limits/anonymous.js";
import type { SignalChannel } from "./events/signals.js";
import type { Settings } from "./settings.js";

export interface Context
  extends
    ClockReader,
    Pick<Settings, "storage" | "plans" | "ban" | "idempotencyKeyLife" | "random"> {
  readonly anonymous: AnonymousBuckets;
  readonly newKeyId: (now: number) => string;
  /** Warns if the plan of a key that is charged may have other limits on another host. */
  readonly checkPlan: (key: Pick<StoredApiKey, "plan" | "limits">) => void;
  readonly emit: Emit;
  readonly bans: SignalChannel<"petstore:ban">;
}
