import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { err, ok } from "neverthrow";
import * as errors from "../error.js";
import { collectBytes, type BodyResult, type HttpRequest } from "../http-message.js";
import { flawOfCoding, flawOfHost } from "../request/headers.js";
import { connectionOf, inputErrorOf, type Exchange } from "./connection.js";

export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly connection: Socket;
  readonly clientAddress: Exchange["clientAddress"];
  private isRead = false;

  constructor(
    private readonly exchange: Exchange,
    readonly flaw: errors.HttpError | undefined,
    private readonly maxBodySeconds: number,
  ) {
    this.method = exchange.request.method ?? "";
    this.connection = exchange.request.socket;
    this.clientAddress = exchange.clientAddress;
  }

  lines(name: string): readonly string[] {
    return headerLines(this.exchange.request, name);
  }

  readBody(limit: number): Promise<BodyResult> {
    const { request, response, hasOpenExpect } = this.exchange;
    if (hasOpenExpect) response.writeContinue();
    this.isRead = true;
    return readBody(request, limit, this.maxBodySeconds);
  }

  /** Whether it ends the connection. To be called once it is handled. */
  isLast(): boolean {
    const { request, hasOpenExpect } = this.exchange;
    if (this.flaw !== undefined || isUpgrade(request)) return true;
    if (request.complete) return false;
    // Reading the body was stopped, or the client was not asked for it.
    if (this.isRead || hasOpenExpect === true) return true;
    const { "transfer-encoding": coding, "content-length": length = 0 } = request.headers;
    if (inputErrorOf(request) !== undefined || coding !== undefined) return true;
    return Number(length) > MAX_DRAINED_BYTES;
  }
}

/** Node silently drops header lines after this many, framing and credentials too, unless a host sets another limit. */
const MAX_LINES = 1_000;

/** Returns the error in a message that Node's parser accepts, if there is one. */
export function flawOf({ request, hasOpenExpect }: Exchange): errors.HttpError | undefined {
  const made: Made = request;
  const { rawHeaders = [], headers, httpVersion = "1.1", socket } = made;
  const own = socket?.server?.maxHeadersCount ?? 0;
  const most = own > 0 ? Math.min(own, MAX_LINES) : MAX_LINES;
  if (rawHeaders.length >= 2 * most) return errors.headersTooLarge();
  const isKnownVersion = httpVersion === "1.1" || httpVersion === "1.0";
  if (!isKnownVersion || isOtherProtocol(request, httpVersion)) return unknownVersion();
  const flaw =
    flawOfHost(headerLines(request, "host"), httpVersion === "1.0") ??
    flawOfCoding(headers["transfer-encoding"], httpVersion === "1.1");
  if (flaw !== undefined || !hasOpenExpect) return flaw;
  // Node also waits if 100-continue is one of several expectations.
  const isKnownExpect = headers.expect?.trim().toLowerCase() === "100-continue";
  return isKnownExpect ? undefined : errors.expectationFailed();
}

/**
 * Whether a request is RTSP or ICE, which Node's parser accepts as HTTP. Only the packet shows the difference. While
 * Node parses it, an undocumented method of the parser returns a copy of it. As that costs time, messages with the
 * version 1.1 are only checked if they are the first of their connection. A head in several packets is not recognized.
 */
function isOtherProtocol({ method = "", url = "", socket }: Made, httpVersion: string): boolean {
  if (socket?.parser?.getCurrentBuffer === undefined) return false;
  const connection = connectionOf(socket);
  if (connection.isHttp && httpVersion === "1.1") return false;
  const lines = `\n${Buffer.from(socket.parser.getCurrentBuffer()).toString("latin1")}`;
  const isOther = ["RTSP", "ICE"].some((name) => lines.includes(`\n${method} ${url} ${name}/`));
  connection.isHttp = !isOther;
  return isOther;
}

/** RFC 9110, section 15.6.6, lets a server choose between 505 and this, because the client made the mistake. */
export function unknownVersion(): errors.UnreadableMessage {
  return errors.badRequest("Only HTTP/1.1 and HTTP/1.0 are supported.");
}

/** A request that a host may have made without Node's parser, for a function of a cloud or for a test. */
type Made = Pick<IncomingMessage, "headers" | "method" | "url"> &
  Partial<Pick<IncomingMessage, "rawHeaders" | "httpVersion" | "readableDidRead">> & {
    readonly socket?: Socket & {
      readonly parser?: { getCurrentBuffer?(): Uint8Array } | null;
      readonly server?: { readonly maxHeadersCount?: number | null };
    };
    readonly rawBody?: unknown;
    readonly body?: unknown;
  };

/**
 * Returns the values of all lines of a header, in the order received. `IncomingMessage.headers` would silently keep the
 * first of two Authorization or Host lines: it is only read where a host has filled nothing else.
 */
function headerLines({ rawHeaders = [], headers }: Made, name: string): readonly string[] {
  if (rawHeaders.length === 0) return [headers[name] ?? []].flat();
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index];
    if (sent?.length === name.length && sent.toLowerCase() === name)
      lines.push(rawHeaders[index + 1] ?? "");
  }
  return lines;
}

/** Whether a request asks for another protocol. Node's parser loses the bytes behind it, so it has to be the last. */
export function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** The rest of a body with at most this Content-Length is read, to keep the connection open (RFC 9112, section 6.3). */
const MAX_DRAINED_BYTES = 65_536;

async function readBody(
  request: IncomingMessage,
  limit: number,
  seconds: number,
): Promise<BodyResult> {
  // A request that a host has made may not be a stream.
  const made: Made = request;
  if (made.readableDidRead ?? true) return readParsed(made, limit);
  // A body parser of the host has found the body empty.
  if (request.readableEnded) return ofBytes(EMPTY, limit);
  if (request.readableEncoding !== null) throw new TypeError(HAS_ENCODING);
  const error = inputErrorOf(request);
  if (error !== undefined) return err(error);
  if (request.destroyed) return err(errors.endedEarly());
  if (!request.complete) return collect(request, limit, seconds);
  return ofBytes(readArrived(request), limit);
}

function readArrived(request: IncomingMessage): Uint8Array {
  const chunks: Uint8Array[] = [];
  // Since Node 26, each call returns one chunk.
  for (let chunk: unknown = request.read(); chunk instanceof Uint8Array; chunk = request.read()) {
    chunks.push(chunk);
  }
  const [first = EMPTY] = chunks;
  return chunks.length > 1 ? Buffer.concat(chunks) : first;
}

const EMPTY = new Uint8Array();
const HAS_ENCODING =
  "@petstore/http-adapter: the host has called setEncoding, so the bytes of the body are lost";
const GONE = "The host has read the body: mount the pet store before the body parser.";

/** Returns what a body parser of the host has left: `rawBody` if it is text or bytes, which are exact, or `body`. */
function readParsed({ rawBody, body }: Made, limit: number): BodyResult {
  if (typeof rawBody === "string") return ofBytes(Buffer.from(rawBody), limit);
  const left = rawBody instanceof Uint8Array ? rawBody : body;
  if (left === undefined) return err(errors.badRequest(GONE));
  return left instanceof Uint8Array ? ofBytes(left, limit) : ok({ kind: "parsed", value: left });
}

function ofBytes(bytes: Uint8Array, limit: number): BodyResult {
  return bytes.length > limit ? err(errors.payloadTooLarge(limit)) : ok({ kind: "bytes", bytes });
}

function collect(request: IncomingMessage, limit: number, seconds: number): Promise<BodyResult> {
  const collected = collectBytes(limit);
  return new Promise((resolve) => {
    const deadline = setTimeout(() => finish(err(errors.requestTimeout())), seconds * 1_000);
    const end = (): void => finish(ok({ kind: "bytes", bytes: collected.all() }));
    const close = (): void => finish(err(errors.endedEarly()));
    const take = (chunk: Uint8Array): void => {
      if (!collected.add(chunk)) finish(err(errors.payloadTooLarge(limit)));
    };
    function finish(result: BodyResult): void {
      clearTimeout(deadline);
      request.off("data", take).off("end", end).off("close", close).pause();
      resolve(result);
    }
    connectionOf(request.socket).onInputError = (error) => {
      if (!request.complete) finish(err(error));
    };
    // Without a listener for "error", Node emits only "close" when the client disconnects.
    request.on("data", take).on("end", end).on("close", close);
    // If the host has paused the request, adding a listener does not resume it.
    request.resume();
  });
}
