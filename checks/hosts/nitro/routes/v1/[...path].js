import { handle } from "../../route.js";

/** @type {(event: { req: Request }) => Promise<Response>} */
export default ({ req }) => handle(req);
