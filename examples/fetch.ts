import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";

const store = createPetStore();
const handle = createFetchHandler(store);
const issued = await store.keys.issue({ plan: "free" });
const secret = issued.isOk() ? issued.value.secret : "";

const request = new Request("http://pets.test/v1/pets", {
  method: "POST",
  headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
  body: '{ "name": "Rex", "categoryId": 9007199254740993 }',
});
const response = await handle(request);
console.log(response.status, await response.text());
// 201 {"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}
