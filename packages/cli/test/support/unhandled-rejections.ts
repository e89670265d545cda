import { afterEach, beforeEach } from "vitest";

/** Collects unhandled rejections during each test of a file. */
export function watchRejections(): readonly unknown[] {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => {
    rejections.push(reason);
  };
  beforeEach(() => {
    rejections.length = 0;
    process.on("unhandledRejection", onRejection);
  });
  afterEach(() => {
    process.off("unhandledRejection", onRejection);
  });
  return rejections;
}
