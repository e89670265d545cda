import type { ResultAsync } from "neverthrow";
import type { Refusal, UnreadableMessage } from "./refusal.js";

/** A request as every transport hands it in. */
export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string;
  /** Tells callers without a valid key apart, normally the network address. */
  readonly origin: string | undefined;
  /** Why the message itself is no good, if the transport found it so. */
  readonly flaw: Refusal | undefined;
  /** What the requests of one connection have in common, if the transport knows it. */
  readonly connection: object | undefined;
  /** The value of every line of the header with this lower-case name, in the order sent. */
  readonly lines: (name: string) => readonly string[];
  /**
   * Reads the body, of at most `limit` bytes. Until then nothing of it is asked for: a client that
   * waits for `100 Continue` gets it only now, and one that takes too long is given up. To be called
   * at most once.
   */
  readBody(limit: number): ResultAsync<HttpBody, UnreadableMessage>;
}

/** A body: its bytes or, when the host's body parser was first, what that made of them. */
export type HttpBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown };

/** An answer, complete but for what the transport itself adds (Date, Connection). */
export interface HttpResponse {
  readonly status: number;
  /** Names and values in turn. The transport may add to it: it belongs to this one answer. */
  readonly headers: string[];
  /** Text to be sent as UTF-8; empty in an answer to HEAD. */
  readonly body: string;
}
