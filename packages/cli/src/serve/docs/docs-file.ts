import { createHash } from "node:crypto";
import { extname } from "node:path";

/** A file that is served as it is. */
export interface DocsFile {
  /** Its Content-Type. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Tells one content from another (RFC 9110, section 8.8.3). */
  readonly etag: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  [".css", "text/css; charset=utf-8"],
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
]);

/** A file of this name, with the type that its name says. */
export function toDocsFile(name: string, content: string | Uint8Array): DocsFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return {
    type: TYPES.get(extname(name)) ?? "application/octet-stream",
    bytes,
    etag: `"${digest}"`,
  };
}
