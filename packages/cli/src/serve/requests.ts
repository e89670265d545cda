import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Node tells of every request here before anybody answers it. */
const CHANNEL = "http.server.request.start";

/** Sees a request and its answer before anybody else does. */
export type Watcher = (request: IncomingMessage, response: ServerResponse) => void;

/** Has every request that reaches this server seen first. Returns a function that ends it. */
export function watchRequests(server: Server, watcher: Watcher): () => void {
  const onStart = (message: unknown): void => {
    if (isStart(message) && message.server === server) watcher(message.request, message.response);
  };
  subscribe(CHANNEL, onStart);
  return () => unsubscribe(CHANNEL, onStart);
}

/** Calls back once, when the answer is sent or its client has gone. */
export function whenOver(response: ServerResponse, callback: () => void): void {
  const over = (): void => {
    response.off("finish", over).off("close", over);
    callback();
  };
  response.once("finish", over).once("close", over);
}

interface Start {
  readonly server: unknown;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function isStart(message: unknown): message is Start {
  return (
    typeof message === "object" &&
    message !== null &&
    "server" in message &&
    "request" in message &&
    "response" in message
  );
}
