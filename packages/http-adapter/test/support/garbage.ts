import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Frees all memory that nothing refers to. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
}
