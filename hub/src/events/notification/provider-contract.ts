/** What the provider of each type is: how it says an event over HTTP. */
import type { FluxEvent } from "./event.ts";

/** A Provider with what its Secret holds. Never log it. */
export interface ProviderSettings {
  /** Absolute. */
  readonly address: URL;
  readonly channel: string;
  readonly username: string;
  /** The password of the Secret. */
  readonly password: string;
  readonly token: string;
  /** The headers of the Secret's key `headers`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The UID of the Provider. */
  readonly uid: string;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Why a success is none, from its body. */
  readonly problem?: (body: string) => string | undefined;
}

/** The requests for an event, sent one after the other. */
export interface Delivery {
  readonly kind: "send";
  readonly requests: readonly OutgoingRequest[];
  /** Sent first: nothing else is sent when `isSaid` holds for its answer. */
  readonly before?: {
    readonly request: OutgoingRequest;
    readonly isSaid: (body: string) => boolean;
  };
}

/** `skipped`: the type sends nothing for such an event; `impossible`: it should, and cannot. */
export type Delivered =
  | Delivery
  | { readonly kind: "skipped" }
  | { readonly kind: "impossible"; readonly why: string };

export type BuildDelivery = (event: FluxEvent, settings: ProviderSettings) => Delivered;

/** A POST of JSON. */
export function post(
  url: URL,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): OutgoingRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

export function send(...requests: readonly OutgoingRequest[]): Delivery {
  return { kind: "send", requests };
}

export const skipped = { kind: "skipped" } as const satisfies Delivered;

export function basic({ username, password }: ProviderSettings): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** The metadata of an event, by key: the summary first where a message shows it. */
export function sortedMetadata({
  metadata = {},
}: FluxEvent): readonly (readonly [string, string])[] {
  return Object.entries(metadata).toSorted(([a], [b]) => {
    if (a === b) return 0;
    if (a === "summary" || b === "summary") return a === "summary" ? -1 : 1;
    return a < b ? -1 : 1;
  });
}
