import type { Result } from "neverthrow";
import type { HttpError, UnreadableMessage } from "./error.js";

export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string;
  /** The error in the message itself, if the transport found one. */
  readonly flaw: HttpError | undefined;
  /** An object that all requests of one connection share; `undefined` if the connection is not known. */
  readonly connection: object | undefined;
  /** Tells callers without a valid key apart, normally by the network address. */
  clientAddress(): string | undefined;
  /** The value of every line of the header with this lower-case name, in the order sent. */
  lines(name: string): readonly string[];
  /** Reads the body, of at most `limit` bytes. Only now is `100 Continue` sent. To be called at most once. */
  readBody(limit: number): Promise<BodyResult>;
}

/** A body: its bytes or, if the host's body parser has read it, the parsed value. */
export type HttpBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown };

export type BodyResult = Result<HttpBody, UnreadableMessage>;

/** More chunks than this are joined, so that chunks of one byte do not cost an object each. */
const MOST_CHUNKS = 1_024;

/** Collects at most `limit` bytes: `add` returns false, and adds nothing, for a chunk that would exceed it. */
export function collectBytes(limit: number) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add: (chunk: Uint8Array): boolean => {
      if (length + chunk.length > limit) return false;
      length += chunk.length;
      chunks.push(chunk);
      if (chunks.length > MOST_CHUNKS) chunks = [Buffer.concat(chunks)];
      return true;
    },
    all: (): Uint8Array => Buffer.concat(chunks),
  };
}

export type Headers = Readonly<Record<string, string>>;

/** A response. The transport adds its own headers (Date, Connection). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text to be sent as UTF-8, or bytes that other responses share; empty if there is no body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}
