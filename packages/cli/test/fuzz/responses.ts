import type { Received } from "./send.js";
import type { Sending } from "./sequences.js";

/** A response as it was read, but for its body. */
export interface Response {
  readonly status: number;
  /** The header section, in lower case. */
  readonly head: string;
}

const STATUSES = [
  200, 201, 204, 302, 304, 400, 401, 404, 405, 408, 413, 414, 415, 417, 422, 426, 429, 431,
];

/** How the server is expected to respond. */
export interface Expected {
  /** Whether the server responds to every message itself, without the host. */
  readonly isOwn: boolean;
}

/** The defect in the received bytes, or the responses in order. */
export function readResponses(
  sending: Sending,
  received: Received,
  { isOwn }: Expected,
): readonly Response[] | string {
  const { messages } = sending.sequence;
  const exact = exactCount(sending);
  const responses: Response[] = [];
  let rest = received.bytes;
  if (received.hangs) return "the server never closed the connection";
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return received.isWhole ? `no response: ${JSON.stringify(rest)}` : responses;
    const head = rest.slice(0, end).toLowerCase();
    const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1]);
    rest = rest.slice(end + 4);
    if (status === 100) continue;
    const index = responses.push({ status, head }) - 1;
    const known = index < exact ? messages[index] : undefined;
    if (!STATUSES.includes(status)) return `a response that must never be sent: ${head}`;
    if (isOwn && known?.isForStore && !head.includes("\r\nx-ratelimit-reset: "))
      return `no limit in: ${head}`;
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    const hasBody =
      known === undefined ? !rest.startsWith("HTTP/1.1 ") : !known.isHead && status !== 304;
    if (hasBody && rest !== "" && rest.length < length && received.isWhole)
      return `cut short: ${JSON.stringify(rest)}`;
    if (hasBody) rest = rest.slice(length);
    if (isClosing({ status, head }) && rest !== "")
      return `behind the last response: ${JSON.stringify(rest)}`;
  }
  // A message that is not one complete request may get one more response, to the rest of it.
  if (responses.length > messages.length + 1)
    return `${responses.length} responses to ${messages.length} messages`;
  return responses;
}

/**
 * The names of the pets that may exist: each was asked for in a whole request with a valid key, not behind a
 * response that closes the connection, nor got another response than 201. `must` are those with a 201.
 */
export function petsOf(
  sending: Sending,
  responses: readonly Response[],
): { readonly may: readonly string[]; readonly must: readonly string[] } {
  const exact = exactCount(sending);
  const known = responses.slice(0, exact);
  const closing = known.findIndex(isClosing);
  const may = sending.sequence.messages.flatMap(({ isCreate }, index) => {
    if (!isCreate || index >= sending.complete) return [];
    if (closing >= 0 && index > closing) return [];
    const response = known[index];
    return response === undefined || response.status === 201 ? [sending.names[index] ?? ""] : [];
  });
  const must = may.filter((name) => known[sending.names.indexOf(name)] !== undefined);
  return { may, must };
}

/** Counts the messages at the front that are one complete request each: each gets one response. */
function exactCount({ sequence, complete }: Sending): number {
  const first = sequence.messages.findIndex(({ isWhole }) => !isWhole);
  return Math.min(complete, first < 0 ? sequence.messages.length : first);
}

function isClosing({ head }: Response): boolean {
  return head.includes("\r\nconnection: close");
}
