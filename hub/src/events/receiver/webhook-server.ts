/**
 * What answers the calls of webhooks: Receivers (`receiver-server.ts`) and the endpoint of registries (`registry-server.ts`). A call is
 * admitted by its headers, and answered by its body. The limits of HTTP are in `route.ts`.
 */

/** A call before its body is read. */
export interface WebhookCaller {
  readonly method: string;
  /** The whole URI of the request. */
  readonly path: string;
  /** The first value of a header, by its name in lower case; "" without it. */
  readonly header: (name: string) => string;
  /** The address of the sender. */
  readonly from: string;
  /** Ends the call, to make room for others. */
  readonly evict: () => void;
}

export interface WebhookAnswer {
  readonly status: number;
  /** For people. Absent: the response has no body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type WebhookAdmission =
  /** Nothing in its body could change the answer. */
  | { readonly kind: "answered"; readonly answer: WebhookAnswer }
  | {
      readonly kind: "admitted";
      /** To be called when the body was read. */
      readonly release: () => void;
      /** Never rejects. */
      readonly answer: (body: Uint8Array) => Promise<WebhookAnswer>;
    };

export interface WebhookServer {
  /** A larger body is not read. */
  readonly maxBytes: number;
  /** The answer to a call with a larger body, and to one while this replica is not ready. */
  readonly answers: { readonly tooLarge: WebhookAnswer; readonly notReady: WebhookAnswer };
  admit(caller: WebhookCaller): Promise<WebhookAdmission>;
}
