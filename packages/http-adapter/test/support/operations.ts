import { operations as facts } from "@petstore/core/facts";

/** The methods of every path, and `HEAD` beside `GET` (RFC 9110, section 9.1). */
export const operations = Object.values(facts).flatMap(({ method, path }) => {
  const methods = method === "GET" ? ([method, "HEAD"] as const) : [method];
  return methods.map((each) => `${each} ${path}` as const);
});
export type Operation = (typeof operations)[number];

/** Returns the methods of the paths that end like this, such as `GET, HEAD`. */
export function methodsOf(path = ""): string {
  const ofPath = operations.filter((operation) => operation.endsWith(path));
  return [...new Set(ofPath.map((operation) => operation.split(" ")[0]))].join(", ");
}
