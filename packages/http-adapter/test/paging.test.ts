import { expect, test } from "vitest";
import { serve, type Served } from "./support/serve.js";

test("the next links lead through every pet exactly once, with the client's own parameters", async () => {
  const served = await filled(7);
  const pages: string[] = [];
  let path: string | undefined = "/v1/pets?unknown=1&limit=3&status=available";
  while (path !== undefined) {
    const { body, headers } = await served.call({ path });
    pages.push(body);
    const reference: string | undefined = /^<(\?[^>]*)>; rel="next"$/.exec(
      headers["link"] ?? "",
    )?.[1];
    if (reference !== undefined)
      expect(reference).toMatch(/^\?limit=3&status=available&after=\d+$/);
    path = reference === undefined ? undefined : `/v1/pets${reference}`;
  }
  expect(pages.map(idsOf)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
});

test("a page has 20 pets by default, and its link names only the last id", async () => {
  const { call } = await filled(21);
  const { body, headers } = await call();
  expect(idsOf(body)).toHaveLength(20);
  expect(headers["link"]).toBe('<?after=20>; rel="next"');
  expect((await call({ path: "/v1/pets?after=20" })).headers).not.toHaveProperty("link");
});

test.each(["?after=-5", "?after=0", "?after=-9223372036854775808", "?limit=100", "?limit=0020"])(
  "%s is a good query",
  async (query) => {
    const { call } = await filled(2);
    const { status, body } = await call({ path: `/v1/pets${query}` });
    expect(status).toBe(200);
    expect(idsOf(body)).toEqual([1, 2]);
  },
);

async function filled(count: number): Promise<Served> {
  const served = await serve();
  for (let added = 0; added < count; added += 1) {
    await served.store.trusted.createPet({ name: "Rex", categoryId: 1 });
  }
  return served;
}

function idsOf(body: string): unknown[] {
  return (JSON.parse(body) as { readonly id: number }[]).map(({ id }) => id);
}
