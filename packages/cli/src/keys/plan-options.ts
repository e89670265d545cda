import { standardPlans, type Plan, type RateLimits } from "@petstore/core";
import type { Command } from "commander";
import { wholeNumber } from "../options.js";

/** The names of the plans. */
export const PLANS = Object.keys(standardPlans);

/** The options of a command that takes a plan; some take it as an argument. */
export interface LimitOptions {
  readonly plan?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** Adds the options for a key's own limits, and the list of plans, to a command that takes a plan. */
export function addLimits(command: Command): Command {
  return command
    .option("--per-minute <n>", "requests per minute, for the enterprise plan", wholeNumber(1))
    .option("--per-day <n>", "requests per day, for the enterprise plan", wholeNumber(1))
    .addHelpText("after", describePlans)
    .hook("preAction", () => {
      const options = command.opts<LimitOptions>();
      const problem = problemWith(options.plan ?? command.args[1] ?? "", options);
      if (problem !== undefined) command.error(problem);
    });
}

/** Returns a key's own limits; `undefined` if its plan has fixed ones. */
export function limitsOf({ perMinute, perDay }: LimitOptions): RateLimits | undefined {
  return perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };
}

function problemWith(plan: string, { perMinute, perDay }: LimitOptions): string | undefined {
  if (plan !== "enterprise") {
    if (perMinute === undefined && perDay === undefined) return undefined;
    return `the ${plan} plan has fixed limits: leave out --per-minute and --per-day`;
  }
  if (perMinute !== undefined && perDay !== undefined) return undefined;
  return "the enterprise plan needs --per-minute and --per-day";
}

/** Called only when help is printed: Node loads its locale data for the first number, which takes 10 ms. */
function describePlans(): string {
  return `\nPlans:\n  ${Object.entries(standardPlans).map(describePlan).join("\n  ")}`;
}

function describePlan([name, plan]: readonly [string, Plan]): string {
  const limits =
    plan === "custom"
      ? "limits of the key's own: --per-minute and --per-day"
      : `${count(plan.perMinute)} requests per minute, ${count(plan.perDay)} per day`;
  return `${name.padEnd(10)}  ${limits}`;
}

function count(requests: number): string {
  return requests.toLocaleString("en");
}
