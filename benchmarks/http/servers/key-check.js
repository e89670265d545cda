// The key check of the peers: the digest of the bearer token is looked up, as a careful author would.
import { createHash } from "node:crypto";

const secret = process.env["API_KEY"] ?? "secret";
const known = new Set([digest(secret)]);

/** @param {string | undefined} authorization */
export function isAuthorized(authorization) {
  return authorization !== undefined && known.has(digest(authorization.slice("Bearer ".length)));
}

/** @param {string} text */
function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}
