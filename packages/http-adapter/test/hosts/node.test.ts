import { test } from "vitest";
import { describeHost, expectUnmounted } from "./describe-host.js";
import { listener, ours, plain, secure } from "./node-hosts.js";

describeHost(ours);
describeHost(plain);
describeHost(secure);
describeHost(listener);

test("unmounting leaves a node:http server as it was", () => expectUnmounted(plain));
test("unmounting leaves a node:https server as it was", () => expectUnmounted(secure));
