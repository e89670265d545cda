// The parts of Bun and Deno that the examples use. In your project: `bun add -d @types/bun`; Deno brings its types.

declare namespace Bun {
  interface Server {
    requestIP(request: Request): { readonly address: string } | null;
  }

  function serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly routes: Readonly<
      Record<string, (request: Request, server: Server) => Promise<Response>>
    >;
    readonly fetch: (request: Request, server: Server) => Response;
  }): Server;
}

declare namespace Deno {
  interface ServeHandlerInfo {
    readonly remoteAddr: { readonly hostname: string };
  }

  function serve(
    options: { readonly port: number; readonly hostname: string },
    handler: (request: Request, info: ServeHandlerInfo) => Response | Promise<Response>,
  ): unknown;
}

declare class URLPattern {
  constructor(parts: { readonly pathname: string });
  test(url: string): boolean;
}
