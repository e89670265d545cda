import type { ConformanceCase } from "./case.js";
import { contentCases } from "./content.js";
import { framingCases } from "./framing.js";
import { headCases } from "./head.js";

/** Every case, for any server that a store is mounted on. Give the key a plan that they fit into. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...headCases,
  ...framingCases,
  ...contentCases,
];
