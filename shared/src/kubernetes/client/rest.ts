/**
 * The client of a Kubernetes API server, for plain JSON objects. `connectKube` (connect.ts) creates one; everything else takes this
 * interface.
 */

import type { KubeObject, ObjectRef, Resource } from "../objects/index.ts";
import type { Impersonation } from "./kubeconfig.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * For the whole call, waiting for a connection and retries included; the server aborts a write then, too. Without it the
   * server has 10 s from when the request is sent.
   */
  readonly timeoutMs?: number;
  /** The limit of the response; a larger one is not read to its end, and an error that `isResponseTooLarge` knows. */
  readonly maxBytes?: number;
}

export interface RawOptions extends CallOptions {
  /** Besides the client's headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON: makes it a POST. */
  readonly body?: string;
}

export interface ListOptions extends CallOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Page size; the caller follows `next`. */
  readonly limit?: number;
  readonly next?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Present when there is another page. */
  readonly next?: string;
}

export interface WatchOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string;
  /** The server ends the watch after this long; the client aborts it 15 s later. */
  readonly timeoutSeconds: number;
}

/** One line of a watch. An ERROR line is thrown as a KubeStatusError instead. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

export interface WriteOptions extends CallOptions {
  readonly subresource?: "status";
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export type PatchBody =
  | { readonly type: "merge"; readonly body: unknown }
  | { readonly type: "json"; readonly body: readonly unknown[] }
  | { readonly type: "apply"; readonly body: unknown; readonly force?: boolean };

export interface DeleteOptions extends CallOptions {
  /** Preconditions: a conflict when the object has another uid or resourceVersion. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/** Every method throws a KubeStatusError for a response that is not a success, and KUBE_UNREACHABLE without a response. */
export interface KubeRest {
  /** The server's URL, for messages. */
  readonly server: string;
  /** `undefined` when there is no such object. */
  get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ListPage<T>>;
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T>;
  /** PUT: needs `metadata.resourceVersion`, so that it never overwrites a newer version. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: PatchBody,
    options?: WriteOptions,
  ): Promise<T>;
  /** `false` when there was no such object. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<boolean>;
  /** GET, or POST with a body, of any other path, such as `/version`; returns the text. */
  raw(path: string, options?: RawOptions): Promise<string>;
  /**
   * Resolves when the server next responds to any request over these connections, other than with 429 or 5xx, or when
   * `signal` aborts. Responses within 30 s of the last one that counted do not count.
   */
  nextResponse(signal: AbortSignal): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** A client with the credentials of a kubeconfig, and clients that impersonate other users. */
export interface KubeConnection extends KubeRest {
  /** An impersonated client over the same connections: closing it closes nothing. */
  as(user: Impersonation): KubeRest;
}
