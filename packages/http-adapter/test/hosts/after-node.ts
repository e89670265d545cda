import type { Host } from "./host.js";

/** What Node has done before any handler or middleware of a host sees the request. */
export const AFTER_NODE = {
  "100 Continue comes after the checks, or not at all": "Node sends it first; only mount can wait",
  "417: an unknown expectation": "Node answers it first; only mount is asked",
} satisfies Host["skips"];
