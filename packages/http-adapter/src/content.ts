import { MIMEType } from "node:util";
import { err, ok, type Result } from "neverthrow";
import type { HttpRequest } from "./http-message.js";
import {
  payloadTooLarge,
  unsupportedContentCoding,
  unsupportedMediaType,
  type PayloadTooLarge,
  type UnsupportedMediaType,
} from "./refusal.js";

/**
 * Checks what a request declares of its body, before any of it is read: length, media type,
 * content coding. A body without a media type is taken as JSON.
 */
export function checkContent(
  request: HttpRequest,
  limit: number,
): Result<void, PayloadTooLarge | UnsupportedMediaType> {
  if (Number(request.lines("content-length")[0] ?? 0) > limit) return err(payloadTooLarge(limit));
  const types = request.lines("content-type");
  if (types.length > 0 && !isJson(types.join(", "))) return err(unsupportedMediaType());
  return request.lines("content-encoding").every(isIdentity)
    ? ok()
    : err(unsupportedContentCoding());
}

/** Far more than anybody needs. Node's parser takes the square of the length for some. */
const LONGEST_TYPE = 256;

function isJson(contentType: string): boolean {
  if (contentType === "application/json") return true;
  if (contentType.length > LONGEST_TYPE) return false;
  try {
    const { essence, params } = new MIMEType(contentType);
    const charset = params.get("charset") ?? "utf-8";
    return essence === "application/json" && charset.toLowerCase() === "utf-8";
  } catch {
    return false;
  }
}

/** An empty line is an empty list of codings. */
function isIdentity(contentCoding: string): boolean {
  return contentCoding === "" || contentCoding.toLowerCase() === "identity";
}
