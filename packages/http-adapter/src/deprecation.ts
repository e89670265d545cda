/**
 * What every response of getPet carries (specification, "Versioning", rule 3): deprecated since
 * 5 December 2025 (RFC 9745), to be removed on 5 December 2030 (RFC 8594), replaced by the list
 * (RFC 5829), which is one level up wherever the store is mounted.
 */
export const GET_PET_DEPRECATION = Object.freeze({
  Deprecation: "@1764892800",
  Sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  Link: '<../pets>; rel="successor-version"',
});
