import { handle } from "../../../route.js";

export const ALL = ({ request }) => handle(request);
