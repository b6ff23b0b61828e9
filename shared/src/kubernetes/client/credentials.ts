/** Credentials for an API server, current for each request: tokens on disk rotate, tokens of exec plugins expire. */
import { readFile } from "node:fs/promises";
import { AppError, messageOf } from "../../runtime/errors/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { kubeErrors } from "./errors.ts";
import { runExecPlugin } from "./exec-plugin.ts";
import type { ClientCertificate, KubeConfig } from "./kubeconfig.ts";

/** The credentials of one request. */
export interface Identity {
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: ClientCertificate | undefined;
}

export interface CredentialSource {
  /** Synchronous where nothing has to be read. */
  current(): Identity | Promise<Identity>;
  /** To be called when the server rejected it (401); true when the next `current` may be another. */
  rejected(identity: Identity): boolean;
}

interface Fetched {
  readonly identity: Identity;
  /** On the monotonic clock. */
  readonly freshUntil: number;
}

/** How long a token file is not read again; a token is rotated long before it expires. */
const tokenFileFreshMs = 10_000;
/** The credential of a plugin is renewed this long before it expires. */
const expiryMarginMs = 10_000;

export function createCredentialSource(config: KubeConfig, clock: Clock): CredentialSource {
  const { credentials } = config;
  switch (credentials.kind) {
    case "none":
      return fixed(identityOf(config, undefined));
    case "token":
      return fixed(identityOf(config, `Bearer ${credentials.token}`));
    case "basic": {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString(
        "base64",
      );
      return fixed(identityOf(config, `Basic ${pair}`));
    }
    case "token-file":
      return cached(clock, (last) => readTokenFile(credentials.path, config, clock, last));
    case "exec":
      return cached(clock, async () => {
        const fetched = await runExecPlugin(credentials.exec, config, clock);
        const authorization = fetched.token === undefined ? undefined : `Bearer ${fetched.token}`;
        const lifeMs =
          fetched.expiresAt === undefined
            ? Number.POSITIVE_INFINITY
            : fetched.expiresAt - clock.now() - expiryMarginMs;
        return {
          identity: identityOf(config, authorization, fetched.certificate),
          freshUntil: clock.monotonic() + lifeMs,
        };
      });
  }
}

async function readTokenFile(
  path: string,
  config: KubeConfig,
  clock: Clock,
  last: Fetched | undefined,
): Promise<Fetched> {
  const freshUntil = clock.monotonic() + tokenFileFreshMs;
  try {
    const token = (await readFile(path, "utf8")).trim();
    if (token === "")
      throw new AppError(kubeErrors.KUBE_CREDENTIALS, `read token file ${path}: it is empty`);
    const identity = identityOf(config, `Bearer ${token}`);
    // The same identity for the same token: `rejected` compares identities.
    const same = last?.identity.headers["authorization"] === identity.headers["authorization"];
    return { identity: same && last !== undefined ? last.identity : identity, freshUntil };
  } catch (error) {
    // While the file is being replaced, the previous token is still valid.
    if (last !== undefined) return { identity: last.identity, freshUntil };
    if (error instanceof AppError) throw error;
    throw new AppError(
      kubeErrors.KUBE_CREDENTIALS,
      `read token file ${path}: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function fixed(identity: Identity): CredentialSource {
  return { current: () => identity, rejected: () => false };
}

function cached(
  clock: Clock,
  fetch: (last: Fetched | undefined) => Promise<Fetched>,
): CredentialSource {
  let last: Fetched | undefined;
  let rejected: Identity | undefined;
  let pending: Promise<Identity> | undefined;

  async function refresh(): Promise<Identity> {
    try {
      last = await fetch(last);
      return last.identity;
    } finally {
      pending = undefined;
    }
  }

  return {
    current() {
      if (last !== undefined && clock.monotonic() < last.freshUntil && last.identity !== rejected)
        return last.identity;
      pending ??= refresh();
      return pending;
    },
    rejected(identity) {
      // Rejected twice in a row: fetching again at once has the same result.
      if (identity === rejected) return false;
      rejected = identity;
      return true;
    },
  };
}

function identityOf(
  config: KubeConfig,
  authorization: string | undefined,
  certificate = config.clientCertificate,
): Identity {
  return { headers: authorization === undefined ? {} : { authorization }, certificate };
}
