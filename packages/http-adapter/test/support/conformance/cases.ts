import type { ConformanceCase } from "./case.js";
import { contentCases } from "./content.js";
import { framingCases } from "./framing.js";
import { headerCases } from "./header.js";
import { requestLineCases } from "./request-line.js";

/** Every case, for any server that a store is mounted on. Give the key a plan that they fit into. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...requestLineCases,
  ...headerCases,
  ...framingCases,
  ...contentCases,
];
