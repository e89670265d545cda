import { sized } from "../../../../scripts/test-size.js";
import { describeHost } from "./describe-host.js";
import { behindParser, behindParserKeepingBytes, belowRouter, plain } from "./express-hosts.js";

/** By default, a variant of a host takes a part of the cases. */
const STRIDE = sized(4, 1, 1);

describeHost(plain);
describeHost(belowRouter, STRIDE);
describeHost(behindParser, STRIDE);
describeHost(behindParserKeepingBytes, STRIDE);
