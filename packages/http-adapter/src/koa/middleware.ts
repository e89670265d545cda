import type { PetStore } from "@petstore/core";
import { bodyLeftBy } from "../node/body.js";
import { parseHostSettings, socketAddress, type NodeOptions } from "../node/options.js";
import { createNodeTransport } from "../node/transport.js";
import { locate } from "../place.js";
import type { KoaContext } from "./context.js";

/** A middleware for Koa. */
export type KoaMiddleware<Context extends KoaContext = KoaContext> = (
  context: Context,
  next: () => Promise<unknown>,
) => Promise<void>;

/**
 * Creates a Koa middleware for a store: `app.use(createKoaMiddleware(store))`. It answers what goes
 * below the base path on Node's own response, with `ctx.respond` off, and leaves the rest to `next`.
 * Headers that a middleware before it has set go out with the answer, and one that waits for it
 * finds the status in `ctx.status`.
 *
 * A client that expects `100 Continue` got it from Node before any middleware runs; only `mount`
 * sends it after the checks.
 * @throws TypeError that names the option, when one is wrong.
 */
export function createKoaMiddleware<Context extends KoaContext = KoaContext>(
  store: PetStore,
  options: NodeOptions<Context> = {},
): KoaMiddleware<Context> {
  const settings = parseHostSettings<Context>(options, ({ req }) => req);
  const transport = createNodeTransport(store, { ...settings, origin: socketAddress });
  return async (context, next) => {
    const { req, res, originalUrl, request } = context;
    const place = locate(settings.basePath, req.url ?? "", originalUrl);
    if (place === undefined) {
      await next();
      return;
    }
    context.respond = false;
    const view = { origin: settings.origin(context), body: bodyLeftBy(request, settings.onError) };
    await new Promise<void>((resolve) => {
      transport.serve(req, res, place, "none", view, resolve);
    });
  };
}
