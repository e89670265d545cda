import type { Result } from "neverthrow";
import type { Refusal, UnreadableMessage } from "./refusal.js";

/** A request as every transport hands it in. */
export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string;
  /** Why the message itself is refused, if the transport found a reason. */
  readonly flaw: Refusal | undefined;
  /** An object that all requests of one connection share, if the transport knows the connection. */
  readonly connection: object | undefined;
  /** Tells callers without a valid key apart, normally the network address. */
  readonly origin: () => string | undefined;
  /** The value of every line of the header with this lower-case name, in the order sent. */
  readonly lines: (name: string) => readonly string[];
  /**
   * Reads the body, of at most `limit` bytes. A client that waits for `100 Continue` gets it only
   * now. To be called at most once.
   */
  readonly readBody: (limit: number) => Promise<Result<HttpBody, UnreadableMessage>>;
}

/** A body: its bytes or, if the host's body parser has read it, the parsed value. */
export type HttpBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown };

/** Header names and their values. */
export type Headers = Readonly<Record<string, string>>;

/** A response, complete but for what the transport adds (Date, Connection, X-Request-Id). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Text to be sent as UTF-8; empty in a response to HEAD. */
  readonly body: string;
}
