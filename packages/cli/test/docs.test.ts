import { openApiDocument } from "@petstore/http-adapter";
import { describe, expect, it } from "vitest";
import { useServer } from "./support/built-petstore.js";
import { sendUntilClosed } from "./support/raw-client.js";

const server = useServer();

/** The server's address without the base path. */
const originOf = (): string => new URL(server().url).origin;

describe("petstore serve, outside /v1", () => {
  it("serves the OpenAPI document as JSON, with exact bounds", async () => {
    const response = await fetch(`${originOf()}/openapi.json?fresh`);
    expect(response.headers.get("content-type")).toBe("application/json");
    const body = await response.text();
    expect(JSON.parse(body)).toEqual(openApiDocument);
    expect(body).toContain("9223372036854775807");
  });

  it("serves every file of the page, with its type and a content security policy", async () => {
    const origin = originOf();
    const page = await fetch(`${origin}/docs`);
    const html = await page.text();
    expect(html).toContain("<title>Pet Store");
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|https?:\/\/(?!www\.w3)/);
    const named = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, name = ""]) => name);
    expect(named).toHaveLength(5);
    const modules = ["plugins"];
    const files = [...named, ...modules.map((name) => `docs/${name}.js`)];
    const responses = await Promise.all(files.map((name) => fetch(`${origin}/${name}`)));
    for (const response of [page, ...responses]) {
      expect(response.status).toBe(200);
      const [, extension = "html"] = /\.(\w+)$/.exec(new URL(response.url).pathname) ?? [];
      const type = extension === "js" ? "javascript" : extension;
      expect(response.headers.get("content-type")).toBe(
        type === "svg" ? "image/svg+xml" : `text/${type}; charset=utf-8`,
      );
      expect(response.headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
          "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    }
  });

  it("responds 304 to a client that has the file, and to HEAD without a body", async () => {
    const url = `${originOf()}/docs/swagger-ui.css`;
    const head = await fetch(url, { method: "HEAD" });
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(10_000);
    expect(await head.text()).toBe("");
    const etag = head.headers.get("etag") ?? "";
    for (const known of [etag, `"other", W/${etag}`, "*"]) {
      const again = await fetch(url, { headers: { "if-none-match": known } });
      expect([again.status, again.headers.get("etag")]).toEqual([304, etag]);
    }
    expect((await fetch(url, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  it("redirects / and /docs/ to the page, and /favicon.ico to its icon", async () => {
    const origin = originOf();
    for (const [path, file] of [
      ["/", "/docs"],
      ["/docs/", "/docs"],
      ["/favicon.ico", "/docs/favicon.svg"],
    ]) {
      const { status, redirected, url } = await fetch(`${origin}${path}`);
      expect([status, redirected, url]).toEqual([200, true, `${origin}${file}`]);
    }
  });

  it("responds to other methods with 405, Allow and an Error", async () => {
    const origin = originOf();
    for (const path of ["/docs", "/openapi.json", "/"]) {
      const response = await fetch(origin + path, { method: "POST", body: "x" });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      expect(await response.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
    }
  });

  it("responds to every other path as the adapter does", async () => {
    const outside = [
      "/dogs",
      "/docs/index.html",
      "/docs/../package.json",
      "/docs/%2e%2e/x",
      "//docs",
    ];
    for (const path of outside) {
      const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const response = await sendUntilClosed(originOf(), request);
      expect(response).toMatch(/^HTTP\/1\.1 404 /);
      expect(response).toContain("X-RateLimit-Remaining: 60");
      expect(response).toContain('{"code":"not_found"');
    }
  });
});
