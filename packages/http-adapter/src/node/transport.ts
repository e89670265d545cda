import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { createAnswerer } from "../answer.js";
import type { HttpResponse } from "../http-message.js";
import { locate, type Place } from "../place.js";
import type { NodeSettings } from "./options.js";
import { toHttpRequest, type Expectation } from "./request.js";
import { writeResponse } from "./write.js";

/** The neutral core on Node's messages. */
export interface NodeTransport {
  /** Where a request goes below the base path; `undefined` when it goes elsewhere. */
  locate(request: IncomingMessage): Place | undefined;
  /** Answers a request below the base path. */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    place: Place,
    expectation: Expectation,
  ): void;
  /** Answers a request that goes elsewhere, where nobody else would. */
  serveElsewhere(request: IncomingMessage, response: ServerResponse): void;
}

/** The neutral core on Node's messages, for a store. */
export function createNodeTransport(store: PetStore, settings: NodeSettings): NodeTransport {
  const answerer = createAnswerer(store, settings);
  const { basePath, origin, onError } = settings;
  /** What comes after an answer with `Connection: close` is no request (RFC 9112, section 9.6). */
  const closing = new WeakSet<Socket>();

  function write(
    request: IncomingMessage,
    response: ServerResponse,
    answer: HttpResponse,
    isWaiting: boolean,
  ): void {
    try {
      const connection = writeResponse(request, response, answer, isWaiting);
      if (connection === "closing") closing.add(request.socket);
    } catch (cause) {
      onError(cause);
      response.destroy();
    }
  }

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    serve: (request, response, place, expectation) => {
      if (closing.has(request.socket)) return;
      const neutral = toHttpRequest(request, response, expectation, origin(request));
      void answerer.answer(neutral, place).then((answer) => {
        write(request, response, answer, neutral.isWaiting());
      });
    },
    serveElsewhere: (request, response) => {
      const { method = "" } = request;
      write(
        request,
        response,
        answerer.answerElsewhere({ method, origin: origin(request) }),
        false,
      );
    },
  };
}

/** Express keeps the target here before a Router cuts its own prefix from `url`. */
function clientTarget(request: IncomingMessage): string | undefined {
  return "originalUrl" in request && typeof request.originalUrl === "string"
    ? request.originalUrl
    : undefined;
}
