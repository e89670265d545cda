import * as express from "./express.js";
import * as fastify from "./fastify.js";
import * as hono from "./hono.js";
import type { Host } from "./host.js";
import { koa } from "./koa.js";
import * as node from "./node.js";

/** Every host. */
export const hosts: readonly Host[] = [
  node.ours,
  node.listener,
  node.plain,
  node.secure,
  express.behindParser,
  express.belowRouter,
  express.behindParserKeepingBytes,
  express.plain,
  fastify.createHost("", "/v1"),
  fastify.createHost("/api", "/v1"),
  hono.createHost("/api/v1"),
  fastify.createHost("/a/b/v1", ""),
  koa,
];
