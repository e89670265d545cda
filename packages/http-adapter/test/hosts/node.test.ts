import { test } from "vitest";
import { describeHost, expectUnmounted } from "./describe-host.js";
import { listener, ours, plain, secure } from "./node-hosts.js";

describeHost(ours);
describeHost(plain);
describeHost(secure);
describeHost(listener);

test("after unmounting, a node:http server responds as without the store", () =>
  expectUnmounted(plain));
test("after unmounting, a node:https server responds as without the store", () =>
  expectUnmounted(secure));
