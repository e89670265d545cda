import type { RandomSource } from "../random.js";
import { randomBase62, toBase62 } from "./base62.js";

const TIME_LENGTH = 8;
const RANDOM_LENGTH = 10;

/** A fresh key id. Ids issued at different milliseconds sort by time, compared byte by byte. */
export function newKeyId(now: number, random: RandomSource): string {
  return ["key_", toBase62(now, TIME_LENGTH), randomBase62(random, RANDOM_LENGTH)].join("");
}
