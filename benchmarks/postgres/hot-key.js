// Simulates charges of one key by several servers, in milliseconds of simulated time. Each server takes the
// charges that wait, reads the key's usage, decides, and writes it where its stamp is still the one read. It
// remembers what it has written, and then does not read. A write that finds the row changed, or held by another
// write, charges nothing; the server starts again, and always reads for ten seconds.

/** As in storage-sql/src/commit/retry.ts. */
const RETRIES_WITHOUT_BACKOFF = 20;
const LONGEST_BACKOFF = 20;
/** How long a charge is retried. */
const TIMEOUT = 2_000;

/** As in storage-postgres/src/storage/recent-holders.ts. */
const PAUSE = 10_000;

/**
 * @typedef {object} Server
 * @property {number[]} waiting since when its charges wait
 * @property {boolean} isBusy
 * @property {number | undefined} remembered the stamp of its last write
 * @property {number} readsUntil
 */

/**
 * @typedef {object} Installation
 * @property {number} servers
 * @property {number} roundTrip between a server and PostgreSQL
 * @property {number} callers of each server; each sends its next request when it has its response
 * @property {number} read how long PostgreSQL takes to read the usage
 * @property {number} write how long it holds the row to write it
 * @property {number} turn what a server needs between two statements
 * @property {number} between how long a caller and its request take outside of the charge
 */

/**
 * @param {Installation} installation
 * @param {number} duration simulated milliseconds
 * @param {() => number} [random] from 0 to 1
 * @returns {{ rate: number, lost: number, failed: number, p99: number }} charges a second, the share of writes
 *   that were lost, the share of charges that timed out, and the 99th percentile of a charge in milliseconds
 */
export function simulateHotKey(installation, duration, random = Math.random) {
  const { servers, roundTrip, callers, read, write, turn, between } = installation;
  const events = createEvents();
  let stamp = 0;
  let heldUntil = 0;
  let writes = 0;
  let lost = 0;
  let failed = 0;
  /** @type {number[]} */
  const waits = [];
  const about = (/** @type {number} */ time) => time * (0.75 + random() / 2);

  /** @param {Server} server @param {number} retries */
  const charge = (server, retries) => {
    const calls = [...server.waiting];
    const { remembered } = server;
    const isRemembered = remembered !== undefined && events.now() >= server.readsUntil;
    events.after(isRemembered ? 0 : roundTrip / 2 + about(read), () => {
      const shown = isRemembered ? remembered : stamp;
      events.after((isRemembered ? roundTrip / 2 : roundTrip) + about(turn), () => {
        const isWritten = shown === stamp && events.now() >= heldUntil;
        const held = isWritten ? about(write) : about(write) / 2;
        writes += 1;
        if (isWritten) {
          stamp += 1;
          heldUntil = events.now() + held;
          server.remembered = stamp;
        } else {
          lost += 1;
          server.readsUntil = events.now() + PAUSE;
        }
        events.after(held + roundTrip / 2 + about(turn), () => {
          const settled = isWritten
            ? calls
            : calls.filter((since) => events.now() - since > TIMEOUT);
          for (const since of settled) waits.push(events.now() - since);
          if (!isWritten) failed += settled.length;
          server.waiting.splice(0, settled.length);
          settled.forEach(() => events.after(about(between), () => arrive(server)));
          if (!isWritten && server.waiting.length > 0)
            events.after(backoff(retries + 1), () => charge(server, retries + 1));
          else if (server.waiting.length > 0) charge(server, 0);
          else server.isBusy = false;
        });
      });
    });
  };
  /** @param {Server} server */
  const arrive = (server) => {
    server.waiting.push(events.now());
    if (server.isBusy) return;
    server.isBusy = true;
    charge(server, 0);
  };

  for (let each = 0; each < servers; each += 1) {
    /** @type {Server} */
    const server = { waiting: [], isBusy: false, remembered: undefined, readsUntil: 0 };
    for (let caller = 0; caller < callers; caller += 1)
      events.after(random() * (roundTrip + between), () => arrive(server));
  }
  events.run(duration);
  waits.sort((one, other) => one - other);
  return {
    rate: ((waits.length - failed) / duration) * 1_000,
    lost: lost / writes,
    failed: failed / waits.length,
    p99: waits[Math.floor(waits.length * 0.99)] ?? Number.NaN,
  };
}

/** @param {number} retry */
function backoff(retry) {
  if (retry <= RETRIES_WITHOUT_BACKOFF) return 0;
  return Math.min(2 ** (retry - RETRIES_WITHOUT_BACKOFF - 1), LONGEST_BACKOFF);
}

/** Runs actions in order of their time: a binary heap. */
function createEvents() {
  /** @type {{ at: number, action: () => void }[]} */
  const heap = [];
  let time = 0;
  const at = (/** @type {number} */ index) => heap[index]?.at ?? Infinity;
  const swap = (/** @type {number} */ one, /** @type {number} */ other) => {
    const [a, b] = [heap[one], heap[other]];
    if (a && b) [heap[one], heap[other]] = [b, a];
  };
  const take = () => {
    const [first] = heap;
    const last = heap.pop();
    if (first === last || last === undefined) return first;
    heap[0] = last;
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      const smaller = at(left + 1) < at(left) ? left + 1 : left;
      if (at(smaller) >= at(index)) return first;
      swap(index, smaller);
      index = smaller;
    }
  };
  return {
    now: () => time,
    after: (/** @type {number} */ delay, /** @type {() => void} */ action) => {
      heap.push({ at: time + delay, action });
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (at(parent) <= at(index)) break;
        swap(index, parent);
        index = parent;
      }
    },
    run: (/** @type {number} */ until) => {
      for (let next = take(); next && next.at <= until; next = take()) {
        time = next.at;
        next.action();
      }
    },
  };
}
