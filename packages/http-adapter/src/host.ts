/** RFC 9112, section 3.2: a host and perhaps a port, or nothing. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Whether the value of a Host header is one host. */
export function isHost(value: string): boolean {
  return HOST.test(value);
}
