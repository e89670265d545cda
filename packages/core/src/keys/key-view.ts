import { bannedUntil, rememberedBans, type BanRule } from "../limits/ban.js";
import { remainingQuotas } from "../limits/charge.js";
import { limitsOf, type Plans } from "../limits/plan.js";
import type { Reading } from "../limits/reading.js";
import type { KeyWithUsage } from "../storage/key-storage.js";
import type { ApiKey } from "./key-ring.js";

/** A stored key as its host sees it: without digests, with what its usage tells. */
export function viewKey(
  { key, usage }: KeyWithUsage,
  rules: { readonly plans: Plans; readonly ban: BanRule | undefined },
  reading: Reading,
): ApiKey {
  const { ban } = rules;
  const limits = limitsOf(key, rules.plans);
  return Object.freeze({
    id: key.id,
    hint: key.secrets[0]?.hint ?? "",
    plan: key.plan,
    limits,
    label: key.label,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    revokedAt: key.revokedAt,
    lastUsedAt: usage.lastUsedAt === 0 ? undefined : usage.lastUsedAt,
    bannedUntil: ban && bannedUntil(rememberedBans(usage, ban, reading), ban, reading.now),
    usage: remainingQuotas(usage, limits, reading),
  });
}
