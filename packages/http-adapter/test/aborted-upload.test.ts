import { once } from "node:events";
import { expect, test } from "vitest";
import { compose, serve } from "./support/serve.js";

test.each(["Content-Length: 100", "Transfer-Encoding: chunked", "Content-Length: 1000000"])(
  "a client that goes away in the middle of a body (%s) hurts nobody",
  async (framing) => {
    const { dial, key, call, server, store } = await serve();
    const errors: unknown[] = [];
    server.on("clientError", (error) => errors.push(error));
    for (let count = 0; count < 10; count += 1) {
      const wire = await dial();
      wire.send(`${compose({ method: "POST", key, headers: [framing] })}5\r\n{"nam\r\n`);
      const closed = once(wire.socket, "close");
      if (count % 2 === 0) wire.socket.destroy();
      else wire.socket.resetAndDestroy();
      await closed;
    }
    expect((await call()).status).toBe(200);
    expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
  },
);
