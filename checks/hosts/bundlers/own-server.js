import { createPetStoreServer } from "@petstore/http-adapter";
import { openStore } from "./store.js";

createPetStoreServer(await openStore()).listen(Number(process.env.PORT), "127.0.0.1");
