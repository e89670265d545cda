import type { Result } from "neverthrow";
import type { HttpError, UnreadableMessage } from "./error.js";

/** A request as every transport passes it to the handler. */
export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string;
  /** The error in the message itself, if the transport found one. */
  readonly flaw: HttpError | undefined;
  /** An object that all requests of one connection share, if the transport knows the connection. */
  readonly connection: object | undefined;
  /** Tells callers without a valid key apart, normally by the network address. */
  readonly origin: () => string | undefined;
  /** The value of every line of the header with this lower-case name, in the order sent. */
  readonly lines: (name: string) => readonly string[];
  /**
   * Reads the body, of at most `limit` bytes. A client that waits for `100 Continue` gets it only
   * now. To be called at most once.
   */
  readonly readBody: (limit: number) => Promise<BodyResult>;
}

/** A body: its bytes or, if the host's body parser has read it, the parsed value. */
export type HttpBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown };

/** The outcome of reading a body. */
export type BodyResult = Result<HttpBody, UnreadableMessage>;

/** Header names and their values. */
export type Headers = Readonly<Record<string, string>>;

/** A response. The transport adds its own headers (Date, Connection, X-Request-Id). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text to be sent as UTF-8; empty in a response to HEAD. */
  readonly body: string;
}
