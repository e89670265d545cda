import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished, vi } from "vitest";

/** Makes the look with this number at a file fail, as a disk does. Returns how many looks there were, and ends that. */
export function failLook(at: number): () => number {
  let looks = 0;
  const spies = (["statSync", "realpathSync", "openSync", "existsSync"] as const).map((name) => {
    const look = fs[name] as (...args: unknown[]) => unknown;
    return vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
      looks += 1;
      if (looks !== at) return look(...args);
      if (name === "existsSync") return false;
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: name });
    }) as never);
  });
  const end = (): number => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
    return looks;
  };
  syncBuiltinESMExports();
  onTestFinished(() => void end());
  return end;
}
