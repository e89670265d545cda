// What the peers check by hand.
import { createHash } from "node:crypto";

const known = new Set([digest(process.env["API_KEY"] ?? "secret")]);

/** The digest of the bearer token is looked up, as a careful author would. @param {string | undefined} authorization */
export function isAuthorized(authorization) {
  return authorization !== undefined && known.has(digest(authorization.slice("Bearer ".length)));
}

/** @param {number} limit */
export function isPage(limit) {
  return Number.isInteger(limit) && limit >= 1 && limit <= 100;
}

/** @param {unknown} value @returns {value is import("./pets-table.js").NewPet} */
export function isPet(value) {
  const pet = /** @type {import("./pets-table.js").NewPet} */ (value);
  return typeof pet.name === "string" && Number.isInteger(pet.categoryId);
}

/** @param {string} text */
function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}
