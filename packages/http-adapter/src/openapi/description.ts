import { standardPlans, type Plan } from "@petstore/core";

/** What a reader should know before the first call, as Markdown. */
export const DESCRIPTION = `### Your API key

Every call carries an API key as a bearer token: \`Authorization: Bearer <API_KEY>\`. Whoever runs the
service issues it, and sees it this once:

\`\`\`sh
petstore keys issue --plan free --label "my key"
\`\`\`

To try calls on a page made from this document, press **Authorize** and paste the key.

### Limits

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${Object.entries<Plan>(standardPlans).map(limitsRow).join("\n")}

Every answer tells what is left, in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\`. After a 429, wait for as many seconds as \`Retry-After\` says; a key that keeps
sending is banned for a while.

### Numbers

Identifiers are int64 and exact: beyond 2^53 read and write them with a JSON library that does not
round.
`;

function limitsRow([name, plan]: readonly [string, Plan]): string {
  const [minute, day] =
    plan === "custom" ? ["custom", "custom"] : [plan.perMinute, plan.perDay].map(inThousands);
  return `| ${name} | ${String(minute)} | ${String(day)} |`;
}

/** Without Intl, which takes longer to load than everything else here together. */
function inThousands(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
