import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import type { CaseName } from "./cases.js";

/** The options that a host is started with. */
export interface Setting {
  /** Mounted in the host; left out for the host as it is without. */
  readonly store?: PetStore | undefined;
  /** Whether the host says, in its own way, that it trusts its proxy's `X-Forwarded-For`. */
  readonly behindProxy: boolean;
}

/** A host that runs: on a server, or as a function without any. */
export interface Started {
  readonly server?: Server | SecureServer;
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How a client connects, where that is not by TCP. */
  readonly open?: (port: number, host: string) => Socket;
  /** Takes the store out again, where the host can. */
  readonly unmount?: () => void;
}

/**
 * A host in which the store lives beside the host's own routes: `GET /hello`; `POST /echo`, which
 * responds with the `name` in a JSON body; `GET /boom`, which fails.
 */
export interface Host {
  readonly name: string;
  /** Where the store's clients see it. */
  readonly basePath: string;
  readonly start: (setting: Setting) => Promise<Started> | Started;
  /** Whether the host resolves dot segments before anybody can see them. */
  readonly resolvesDots?: boolean;
  /** The cases that do not hold here, each with its reason. */
  readonly skips?: Partial<Record<CaseName, string>>;
}
