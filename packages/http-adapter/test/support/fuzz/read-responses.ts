/** A final response among the bytes of a connection. */
export interface RawResponse {
  readonly status: number;
  /** The header section, in lower case. */
  readonly head: string;
  /** As long as declared; `undefined` if there is none, as for HEAD. */
  readonly body: string | undefined;
}

/** Splits the bytes of a connection into responses. Throws if one is incomplete. */
export function readResponses(received: string): readonly RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = received;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(rest)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`No response: ${JSON.stringify(rest)}`);
    const head = rest.slice(0, end).toLowerCase();
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1]);
    // No JSON text begins like a status line: that is the next response, and this was one to HEAD.
    const hasBody = rest !== "" && !rest.startsWith("HTTP/1.1 ");
    if (hasBody && rest.length < length) throw new Error(`Cut short: ${JSON.stringify(rest)}`);
    responses.push({ status, head, body: hasBody ? rest.slice(0, length) : undefined });
    if (hasBody) rest = rest.slice(length);
  }
  return responses;
}
