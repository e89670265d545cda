/** What is left to a caller, told with every answer (specification, "Rate limit headers"). */
export interface Quota {
  /** The limit that binds: requests per minute or per day, whichever has the fewest left. */
  readonly limit: number;
  /** Requests left in the window of that limit. */
  readonly remaining: number;
  /** When that window ends, in milliseconds since the Unix epoch. */
  readonly resetAt: number;
}
