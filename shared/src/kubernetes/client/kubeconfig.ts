/** What a kubeconfig says: the address of one API server, and credentials for it. */

/** The address of an API server, and credentials for it. Secret: never logged. */
export interface KubeConfig {
  /** `https://host:port`, with a path where the API server is behind one. */
  readonly server: string;
  /** PEM; absent: the system's certificate authorities. */
  readonly caData?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name in the server's certificate, when it is not the host of `server`. */
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly clientCertificate?: ClientCertificate;
  readonly credentials: KubeCredentials;
  readonly impersonate?: Impersonation;
  /** The namespace that the context names. */
  readonly namespace?: string;
  /** The context that was used; absent in a cluster. */
  readonly context?: string;
}

/** PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export type KubeCredentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "token-file"; readonly path: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly exec: ExecPlugin };

/** A program that prints an ExecCredential. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Environment;
  /** What to do when the program is missing, for messages. */
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  /** The base of a relative command. */
  readonly directory: string;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;
