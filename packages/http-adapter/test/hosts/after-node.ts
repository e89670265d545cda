import type { Host } from "./host.js";

/** Cases that Node responds to on a host's server, before the store sees the request. */
export const AFTER_NODE = {
  "100 Continue comes after the checks, or not at all":
    "Node sends it first, unless the host listens for checkContinue",
  "417: an unknown expectation": "Node responds first",
} satisfies Host["skips"];
