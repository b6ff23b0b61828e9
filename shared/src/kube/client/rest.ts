/**
 * What the product asks of a Kubernetes API server, as plain JSON over one pool of connections.
 * `connectKube` (connect.ts) makes one; everything else takes this interface.
 */

import type { KubeObject, ObjectRef, Resource } from "../objects/object.ts";
import type { Impersonation } from "./kubeconfig.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * How long the whole call may take, waiting for a connection and trying again included; the server gives up a write
   * as well. Without it the server has 10 s from when the request is sent.
   */
  readonly timeoutMs?: number;
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
  /** The server ends the watch after this long; the client gives up 15 s later. */
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
  /** Preconditions: the server answers 409 when the object is another one by now. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/** Every method throws a KubeStatusError for an answer that is not a success, and KUBE_UNREACHABLE where none came. */
export interface KubeRest {
  /** The server's address, for messages. */
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
  /** PUT: needs `metadata.resourceVersion`, so that a newer write of somebody else is never overwritten. */
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
  /** `false` when it was not there. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<boolean>;
  /** Any other path, such as `/version`; the answer's text. */
  raw(path: string, options?: CallOptions): Promise<string>;
  /**
   * Resolves when the server next answers any request over these connections as one that can take requests, or when
   * `signal` aborts. What comes within 30 s of the last such news is none.
   */
  nextResponse(signal: AbortSignal): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** An API server as whoever the kubeconfig says, and as anybody that this one may impersonate. */
export interface KubeConnection extends KubeRest {
  /** The same API server as somebody else, over the same connections: closing it closes nothing. */
  as(who: Impersonation): KubeRest;
}
