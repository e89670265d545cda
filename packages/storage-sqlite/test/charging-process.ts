// Run by processes.test.ts: charges a key through its own storage, many calls at a time.
import { chargeOnce } from "../../storage-sql/test/support/samples.js";
import { openStorage } from "./support/open-storage.js";

const [, , filename = "", id = "", rounds = "", callers = ""] = process.argv;
const storage = await openStorage({ filename });
process.on("message", () => {
  void charge().then((seen) => process.send?.(seen));
});
process.send?.("ready");

async function charge(): Promise<readonly number[]> {
  const seen = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const calls = Array.from({ length: Number(callers) }, () => chargeOnce(storage, id));
    seen.push(...(await Promise.all(calls)));
  }
  return seen;
}
