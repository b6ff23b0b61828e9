/** Who we are to an API server, fresh for each request: tokens on disk rotate, those of a plugin expire. */
import { readFile } from "node:fs/promises";
import { AppError, messageOf } from "../../errors/app-error.ts";
import type { Clock } from "../../time/clock.ts";
import { kubeErrors } from "./errors.ts";
import { runExecPlugin } from "./exec-plugin.ts";
import type { ClientCertificate, KubeConfig } from "./kubeconfig.ts";

/** What one request is sent with. */
export interface Identity {
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: ClientCertificate | undefined;
}

export interface CredentialSource {
  /** Nothing to wait for in the usual case. */
  current(): Identity | Promise<Identity>;
  /** Tells that the server refused it; true when the next one may be another. */
  rejected(identity: Identity): boolean;
}

interface Fetched {
  readonly identity: Identity;
  /** On the monotonic clock. */
  readonly freshUntil: number;
}

/** How long the content of a token file is taken for granted; a token is replaced long before it ends. */
const tokenFileFreshMs = 10_000;
/** A plugin's credential is replaced a little before it ends. */
const expiryMarginMs = 10_000;

export function createCredentialSource(config: KubeConfig, clock: Clock): CredentialSource {
  const { credentials } = config;
  switch (credentials.kind) {
    case "none":
      return unchanging(identityOf(config, undefined));
    case "token":
      return unchanging(identityOf(config, `Bearer ${credentials.token}`));
    case "basic": {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString(
        "base64",
      );
      return unchanging(identityOf(config, `Basic ${pair}`));
    }
    case "token-file":
      return refreshing(clock, (last) => readTokenFile(credentials.path, config, clock, last));
    case "exec":
      return refreshing(clock, async () => {
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
    // The same identity as long as the token is the same, so that a refusal of an old one can be told apart.
    const same = last?.identity.headers["authorization"] === identity.headers["authorization"];
    return { identity: same && last !== undefined ? last.identity : identity, freshUntil };
  } catch (error) {
    // While the file is being replaced the token read before is still good.
    if (last !== undefined) return { identity: last.identity, freshUntil };
    if (error instanceof AppError) throw error;
    throw new AppError(
      kubeErrors.KUBE_CREDENTIALS,
      `read token file ${path}: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function unchanging(identity: Identity): CredentialSource {
  return { current: () => identity, rejected: () => false };
}

function refreshing(
  clock: Clock,
  fetch: (last: Fetched | undefined) => Promise<Fetched>,
): CredentialSource {
  let last: Fetched | undefined;
  let refusedOne: Identity | undefined;
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
      if (last !== undefined && clock.monotonic() < last.freshUntil && last.identity !== refusedOne)
        return last.identity;
      pending ??= refresh();
      return pending;
    },
    rejected(identity) {
      // Refused twice in a row: asking again at once gives the same.
      if (identity === refusedOne) return false;
      refusedOne = identity;
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
