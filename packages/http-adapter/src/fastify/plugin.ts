import type { IncomingMessage } from "node:http";
import type { PetStore } from "@petstore/core";
import { intercept, type Intercepted } from "../node/intercept.js";
import { parseHostSettings, socketAddress, type NodeOptions } from "../node/options.js";
import type { Expectation } from "../node/request.js";
import { createNodeTransport } from "../node/transport.js";
import type { FastifyApp, FastifyReply, FastifyRequest } from "./app.js";

/** What the plugin is registered with. */
export interface PetStorePluginOptions<
  Request extends FastifyRequest = FastifyRequest,
> extends NodeOptions<Request> {
  readonly store: PetStore;
}

/**
 * A Fastify plugin: `app.register(petStorePlugin, { store })`. It answers what goes below the base
 * path, which follows the prefix that it is registered with, and leaves the rest to the host. The
 * host's `onRequest` and `onResponse` hooks run, and the headers that they set go out with the
 * answer; `app.inject()` works; bodies are left to the store. `app.close()` unmounts.
 *
 * What Fastify would refuse by itself (a target that cannot be decoded, a method that it does not
 * know) is answered by the store before Fastify sees it, and `100 Continue` is sent after the
 * checks. On `localhost` that holds for the first of its addresses; the others have servers that
 * Fastify keeps to itself.
 * @returns a promise that is rejected with a TypeError that names the option, when one is wrong:
 * then Fastify does not start.
 */
export function petStorePlugin<Request extends FastifyRequest = FastifyRequest>(
  app: FastifyApp<Request>,
  options: PetStorePluginOptions<Request>,
): Promise<void> {
  return new Promise((resolve) => {
    plugIn(app, options);
    resolve();
  });
}

function plugIn<Request extends FastifyRequest>(
  app: FastifyApp<Request>,
  options: PetStorePluginOptions<Request>,
): void {
  const settings = parseHostSettings(withoutPluginOptions(options), ({ raw }) => raw);
  const basePath = app.prefix.replace(/\/$/, "") + settings.basePath;
  const transport = createNodeTransport(options.store, {
    ...settings,
    basePath,
    origin: socketAddress,
  });
  const expectations = new WeakMap<IncomingMessage, Expectation>();

  app.addHook("onRequest", (request, reply, proceed) => {
    const place = transport.locate(request.raw);
    if (place === undefined) {
      proceed();
      return;
    }
    const expectation = expectations.get(request.raw) ?? "none";
    const view = { origin: settings.origin(request), body: undefined };
    transport.serve(request.raw, takeOver(reply), place, expectation, view);
  });
  if (basePath !== "") app.all(settings.basePath, leave);
  app.all(`${settings.basePath}/*`, leave);

  const methods = new Set(app.supportedMethods);
  const take = (intercepted: Intercepted): void => {
    const { request, response, place, expectation, passOn } = intercepted;
    if (isRoutable(intercepted, methods)) {
      expectations.set(request, expectation);
      passOn();
    } else transport.serve(request, response, place, expectation);
  };
  const unmount = intercept(app.server, transport, take, { ownsServer: false });
  app.addHook("onClose", (_, closed) => {
    unmount();
    closed();
  });
}

/** What Fastify's router takes for the base path though the raw target is not below it. */
function leave(_: FastifyRequest, reply: FastifyReply): void {
  reply.callNotFound();
}

function takeOver(reply: FastifyReply): FastifyReply["raw"] {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}

function isRoutable({ request, place }: Intercepted, methods: ReadonlySet<string>): boolean {
  return methods.has(request.method ?? "") && isDecodable(place.path);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Fastify hands a plugin what is meant for itself, too. */
function withoutPluginOptions<Request extends FastifyRequest>(
  options: PetStorePluginOptions<Request>,
): NodeOptions<Request> {
  const others = { ...options };
  for (const name of ["store", "prefix", "logLevel", "logSerializers"]) {
    Reflect.deleteProperty(others, name);
  }
  return others;
}
