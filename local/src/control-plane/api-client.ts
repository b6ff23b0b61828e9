/** Questions to an API server while it comes up, before there is anything that a real client could use. */
import { Agent, request } from "undici";
import type { KeyPair } from "./certificates.ts";

const requestTimeoutMs = 5_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

/** A small client of one API server, with its certificate checked. */
export interface ApiClient {
  call(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer>;
  /** Ends all connections; a call that waits for its answer fails. */
  close(): Promise<void>;
}

export function apiClient(
  server: string,
  tls: { readonly ca: string; readonly client: KeyPair },
): ApiClient {
  const dispatcher = new Agent({
    connect: { ca: tls.ca, cert: tls.client.cert, key: tls.client.key, timeout: requestTimeoutMs },
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
  });
  return {
    async call(method, path, body) {
      const answer = await request(`${server}${path}`, {
        dispatcher,
        method,
        ...(body === undefined
          ? {}
          : {
              body: JSON.stringify(body),
              headers: {
                "content-type":
                  method === "PATCH" ? "application/merge-patch+json" : "application/json",
              },
            }),
      });
      return { status: answer.statusCode, body: await answer.body.text() };
    },
    close: () => dispatcher.destroy(),
  };
}
