import { handle } from "../../../../route.js";

/** @type {(event: { request: Request }) => Promise<Response>} */
const respond = ({ request }) => handle(request);

export { respond as fallback, respond as GET, respond as HEAD };
