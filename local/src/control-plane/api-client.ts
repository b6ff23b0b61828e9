/** A minimal client of an API server, for its start. */
import { Agent, request } from "undici";
import type { KeyPair } from "./certificates.ts";

const requestTimeoutMs = 5_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends requests to one API server and verifies its certificate. */
export interface ApiClient {
  call(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer>;
  /** Closes all connections; pending calls fail. */
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
