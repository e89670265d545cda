import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { createAnswerer } from "../answer.js";
import type { HttpResponse } from "../http-message.js";
import { locate, type Place } from "../place.js";
import type { Refusal } from "../refusal.js";
import { NO_FIELDS, type Fields } from "../render.js";
import { bodyLeftBy } from "./body.js";
import { inTurn } from "./in-turn.js";
import type { NodeSettings } from "./options.js";
import { toHttpRequest, type Expectation, type HostView } from "./request.js";
import { writeResponse, type Closing } from "./write.js";

/** The neutral core on Node's messages. */
export interface NodeTransport<Request extends IncomingMessage = IncomingMessage> {
  /** Where a request goes below the base path; `undefined` when it goes elsewhere. */
  readonly locate: (request: Request) => Place | undefined;
  /** Answers a request below the base path, then tells that the answer is handed over. Never throws. */
  readonly serve: (
    request: Request,
    response: ServerResponse,
    place: Place,
    expectation: Expectation,
    view?: HostView,
    handedOver?: () => void,
  ) => void;
  /** Refuses a request that nobody else answers, unseen and at no cost. */
  readonly refuse: (refusal: Refusal, request: Request, response: ServerResponse) => void;
  /** The answer to a refusal where there is no request but an empty one, for the address of a socket. */
  readonly renderRefusal: (
    refusal: Refusal,
    socket: Socket,
    request: IncomingMessage,
  ) => HttpResponse;
}

/** The neutral core on Node's messages, for a store. `more` gives the host's own headers for an answer. */
export function createNodeTransport<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  settings: NodeSettings<Request>,
  more: (request: IncomingMessage) => Fields = noFields,
): NodeTransport<Request> {
  const answerer = createAnswerer(store, settings);
  const { basePath, origin, onError, maxBodySeconds } = settings;
  const write = createWriter(more, onError);

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    serve: (request, response, place, expectation, view, handedOver) => {
      const neutral = toHttpRequest(request, response, {
        expectation,
        view: view ?? { origin: origin(request), body: bodyLeftBy(request, onError) },
        maxBodySeconds,
      });
      inTurn(response, () => {
        answerer.answer(neutral, place, (answer) => {
          write(request, response, answer, neutral.closing());
          handedOver?.();
        });
      });
    },
    refuse: (refusal, request, response) => {
      inTurn(response, () => {
        const { method = "" } = request;
        const answer = answerer.refuse(refusal, { method, origin: origin(request) });
        write(request, response, answer, refusal.code === "not_found" ? "if-long" : "always");
      });
    },
    renderRefusal: (refusal, { remoteAddress }, request) => {
      const answer = answerer.refuse(refusal, { method: "", origin: remoteAddress });
      for (const field of more(request)) answer.headers.push(field);
      return answer;
    },
  };
}

/** Writes answers. Never throws: one that cannot be written ends its connection. */
type Write = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  closing: Closing,
) => void;

function createWriter(
  more: (request: IncomingMessage) => Fields,
  onError: (cause: unknown) => void,
): Write {
  return (request, response, answer, closing) => {
    try {
      for (const field of more(request)) answer.headers.push(field);
      writeResponse(request, response, answer, closing);
    } catch (cause) {
      onError(cause);
      response.destroy();
    }
  };
}

function noFields(): Fields {
  return NO_FIELDS;
}

/** Express keeps the target here before a Router cuts its own prefix from `url`. */
function clientTarget(request: IncomingMessage): string | undefined {
  return "originalUrl" in request && typeof request.originalUrl === "string"
    ? request.originalUrl
    : undefined;
}
