import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpResponse } from "../http-message.js";
import type { Refusal, UnreadableMessage } from "../refusal.js";
import { inTurn } from "./in-turn.js";
import { interrupt } from "./interruption.js";
import { linger } from "./linger.js";
import { refusalOf } from "./parser-error.js";

/** Answers what Node's parser refuses, in its turn, on the connections of one server. */
export interface ClientErrors {
  /** Notes the newest request of a connection. */
  watch(request: IncomingMessage, response: ServerResponse): void;
  /** Whether a connection has failed: then nothing that still comes on it is a request. */
  hasFailed(socket: Socket): boolean;
  /** Answers the error of `clientError` (RFC 9112, section 2.2) and closes the connection. */
  handle(error: unknown, socket: Socket): void;
  /** Refuses whatever comes next on a connection, and closes it. */
  refuse(refusal: Refusal, socket: Socket): void;
}

/** The answer to a refusal, for a socket and the empty request that stands for what was not read. */
export type RenderRefusal = (
  refusal: Refusal,
  socket: Socket,
  request: IncomingMessage,
) => HttpResponse;

/**
 * Answers parser errors. What is under way comes first: earlier answers are delivered whole, and
 * where the error lies in the body of a request that a store answers, its answer is that request's.
 * One that was begun is never written into, nor followed by a second for the same request.
 *
 * @param render the answer to a refusal that has no request
 * @param prepare sees the response that carries it, before it is written
 */
export function createClientErrors(
  render: RenderRefusal,
  prepare?: (response: ServerResponse) => void,
): ClientErrors {
  const newest = new WeakMap<Socket, ServerResponse>();
  const failed = new WeakSet<Socket>();

  function handle(error: unknown, socket: Socket): void {
    if (failed.has(socket)) return;
    failed.add(socket);
    const refusal = refusalOf(error);
    const response = newest.get(socket);
    if (refusal === undefined) socket.destroy();
    else if (response === undefined || response.req.complete)
      answerAfter(response, refusal, socket);
    else breakOff(response, refusal, socket);
  }

  function answerAfter(
    response: ServerResponse | undefined,
    refusal: Refusal,
    socket: Socket,
  ): void {
    if (response === undefined || isOver(response)) answer(refusal, socket, render, prepare);
    else response.once("close", () => answer(refusal, socket, render, prepare));
  }

  /** The error lies in the body of the newest request. */
  function breakOff(response: ServerResponse, refusal: UnreadableMessage, socket: Socket): void {
    const isAnswered = interrupt(response.req, refusal) || response.headersSent;
    if (isOver(response)) linger(socket);
    else if (isAnswered) response.once("close", () => linger(socket));
    else
      inTurn(response, () => {
        // A handler that waited for its turn was first.
        if (response.headersSent) {
          response.once("close", () => linger(socket));
          return;
        }
        response.detachSocket(socket);
        answer(refusal, socket, render, prepare);
      });
  }

  return {
    watch: (request, response) => void newest.set(request.socket, response),
    hasFailed: (socket) => failed.has(socket),
    handle,
    refuse: (refusal, socket) => {
      failed.add(socket);
      // Node has taken its own listener away: a reset would end the process.
      socket.on("error", ignore);
      answerAfter(newest.get(socket), refusal, socket);
    },
  };
}

function ignore(): void {
  // "close" follows.
}

/** Node gives the socket to the next response before it emits "close"; "finish" is too early. */
function isOver(response: ServerResponse): boolean {
  return response.destroyed;
}

/** Writes an answer to no request in particular, as the last one of a connection. */
function answer(
  refusal: Refusal,
  socket: Socket,
  render: RenderRefusal,
  prepare: ((response: ServerResponse) => void) | undefined,
): void {
  // Node, or the client, has closed the connection after the answer before.
  if (!socket.writable) return;
  const response = new ServerResponse(new IncomingMessage(socket));
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // Somebody else writes on it, unseen by us: better no answer than one inside another.
    socket.destroy();
    return;
  }
  response.once("finish", () => {
    response.detachSocket(socket);
    linger(socket);
  });
  prepare?.(response);
  if (response.headersSent || response.destroyed) {
    response.end();
    return;
  }
  const { status, headers, body } = render(refusal, socket, response.req);
  response.writeHead(status, headers);
  response.end(body);
}
