import { describeHost } from "./describe-host.js";
import { createHost } from "./hono-hosts.js";

describeHost(createHost("/api/v1"));
