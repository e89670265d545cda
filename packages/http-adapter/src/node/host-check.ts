import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";

/** Node's own answer to a missing Host, taken over from a server. */
export interface HostCheck {
  /** Whether the server as it was would have refused this request. */
  refuses(request: IncomingMessage): boolean;
  /** Gives it back, as it was. */
  release(): void;
}

/** What several mounts on one server share. */
interface Taken {
  readonly isRequired: boolean;
  holders: number;
}

const TAKEN = Symbol("petstore: host check");

/** A server, as far as this goes. */
export interface HostChecking extends EventEmitter {
  requireHostHeader?: boolean;
  [TAKEN]?: Taken | undefined;
}

/**
 * Takes over the check for a Host (RFC 9112, section 3.2), which Node answers with an empty 400
 * before anybody hears of the request; so that whoever answers the path can.
 */
export function takeOverHostCheck(server: HostChecking): HostCheck {
  const taken = (server[TAKEN] ??= {
    isRequired: server.requireHostHeader !== false,
    holders: 0,
  });
  taken.holders += 1;
  server.requireHostHeader = false;
  return {
    refuses: (request) => taken.isRequired && lacksHost(request),
    release: () => {
      taken.holders -= 1;
      if (taken.holders > 0) return;
      server.requireHostHeader = taken.isRequired;
      Reflect.deleteProperty(server, TAKEN);
    },
  };
}

function lacksHost({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor === 1 && headers.host === undefined;
}
