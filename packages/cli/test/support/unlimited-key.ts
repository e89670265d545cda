import { petstore } from "./command.js";

/** Issues a key that no test uses up. */
export async function issueUnlimitedKey(database: string): Promise<string> {
  const limits = ["--per-minute", "1000000000", "--per-day", "1000000000000"];
  const issued = await petstore(
    ...["keys", "issue", "--plan", "enterprise", ...limits, "--database", database, "--json"],
  );
  return (JSON.parse(issued.out) as { secret: string }).secret;
}
