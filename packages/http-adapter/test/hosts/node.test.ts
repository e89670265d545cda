import { test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { describeHost, expectUnmounted } from "./describe-host.js";
import { listener, ours, plain, secure } from "./node-hosts.js";

/** By default, a variant of a host takes a part of the cases. */
const STRIDE = sized(4, 1, 1);

describeHost(ours);
describeHost(plain);
describeHost(secure, STRIDE);
describeHost(listener, STRIDE);

test("after unmounting, a node:http server responds as without the store", () =>
  expectUnmounted(plain));
test("after unmounting, a node:https server responds as without the store", () =>
  expectUnmounted(secure));
