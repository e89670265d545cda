import { systemRandom } from "@petstore/core/internal";

export const TABLES = [
  "pets",
  "inventory",
  "writers",
  "pet_creations",
  "api_keys",
  "api_key_secrets",
  "api_key_usage",
] as const;

export type TableName = (typeof TABLES)[number];

/**
 * Returns a new version of a key or stamp of a usage: a random int8, so that a change is stored only where nothing has
 * changed since the row was read. A change of a key also renews the stamp of its usage.
 */
export const randomStamp = (): string => Buffer.from(systemRandom(8)).readBigInt64BE().toString();
