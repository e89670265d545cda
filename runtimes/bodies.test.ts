import { petsOf } from "@petstore/client";
import { expect, test } from "vitest";
import {
  cutsAtEvery,
  petNamed,
  postCutPets,
} from "../packages/http-adapter/test/support/cut-body.js";
import { compose } from "../packages/http-adapter/test/support/serve.js";
import { dial } from "../packages/http-adapter/test/support/wire.js";
import { inStore, serveAnew, SERVERS } from "./served-program.js";

const POST = { method: "POST", path: "/v1/pets" };

test.each(SERVERS)(
  "%s stores what is sent, wherever it is cut, and nothing that is cut short, refused or hidden",
  async (_, runtime, program) => {
    const { port, database, key } = await serveAnew(runtime, program);
    await sendBodiesThatEndEarly(port, key);
    await sendRequestsInRefusedBodies(port, key);
    const sent = await postCutPets(await dial(port), { ...POST, key }, cutsAtEvery(1));
    const stored = await inStore(database, async ({ trusted }) => {
      const names: string[] = [];
      for await (const pet of petsOf(trusted, { limit: 100 })) names.push(pet._unsafeUnwrap().name);
      return names;
    });
    expect(stored).toEqual(sent);
  },
);

async function sendBodiesThatEndEarly(port: number, key: string): Promise<void> {
  const whole = petNamed("ends early").toString();
  const chunk = `${whole.length.toString(16)}\r\n${whole}`;
  const sendings = [
    [`Content-Length: ${whole.length + 1}`, whole],
    ["Transfer-Encoding: chunked", chunk],
    ["Transfer-Encoding: chunked", `${chunk}\r\n`],
  ].flatMap(([framing = "", body = ""]) =>
    (["end", "destroy", "resetAndDestroy"] as const).map(async (end) => {
      const wire = await dial(port);
      const head = compose({ ...POST, key, headers: [framing] });
      await new Promise((resolve) => wire.socket.write(head + body, resolve));
      wire.socket[end]();
      // Nothing comes back after the others.
      if (end === "end") await wire.response().catch(() => undefined);
      wire.socket.destroy();
    }),
  );
  await Promise.all(sendings);
}

async function sendRequestsInRefusedBodies(port: number, key: string): Promise<void> {
  const pet = petNamed("hidden");
  const hidden = compose({ ...POST, key, body: pet }) + pet.toString();
  for (const framing of [`Content-Length: ${hidden.length}`, "Transfer-Encoding: chunked"]) {
    const wire = await dial(port);
    wire.send(compose({ method: "PUT", path: "/v1/pets", key, headers: [framing] }));
    expect(await wire.response()).toMatchObject({ status: 405 });
    const isChunked = framing.endsWith("chunked");
    wire.send(isChunked ? `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n` : hidden);
    wire.send(compose({ path: "/v1/dogs", key }));
    // The next request gets its own response, or the connection is closed.
    expect((await wire.response().catch(() => undefined))?.status ?? 404).toBe(404);
    wire.socket.destroy();
  }
}
