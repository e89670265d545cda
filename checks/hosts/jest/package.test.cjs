test("a CommonJS test uses the packages", async () => {
  const { createPetStore } = await import("@petstore/core");
  const { createFetchHandler } = await import("@petstore/http-adapter");
  const { openSqliteStorage } = await import("@petstore/storage-sqlite");
  const storage = (await openSqliteStorage({ filename: "pets.db" }))._unsafeUnwrap();
  const response = await createFetchHandler(createPetStore({ storage }))(
    new Request("http://shop.test/v1/pets"),
  );
  expect(response.status).toBe(401);
});
