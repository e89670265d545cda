import { describeHost } from "./describe-host.js";
import { behindParser, behindParserKeepingBytes, belowRouter, plain } from "./express-hosts.js";

describeHost(plain);
describeHost(belowRouter);
describeHost(behindParser);
describeHost(behindParserKeepingBytes);
