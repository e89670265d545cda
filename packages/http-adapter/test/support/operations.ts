/** The methods of every path (specification, "Endpoints"), and `HEAD` beside `GET` (RFC 9110, section 9.1). */
export const operations = [
  "GET /pets",
  "HEAD /pets",
  "POST /pets",
  "GET /pets/{petId}",
  "HEAD /pets/{petId}",
] as const;
export type Operation = (typeof operations)[number];

/** Returns the methods of the paths that end like this, such as `GET, HEAD`. */
export function methodsOf(path = ""): string {
  const ofPath = operations.filter((operation) => operation.endsWith(path));
  return [...new Set(ofPath.map((operation) => operation.split(" ")[0]))].join(", ");
}
