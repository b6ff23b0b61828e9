/**
 * Tokens of a GitHub App's installation. The private key stays on the hub; a token ends within an hour, and agents get only
 * tokens.
 */
import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { AppError } from "@flotilla/shared/errors";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { gitErrors } from "@flotilla/shared/source/git";
import { type Exchange, type Exchanger, readBody } from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";

/** The data of a Secret, decoded. */
export type SecretTexts = Readonly<Record<string, string | undefined>>;

export interface InstallationToken {
  readonly token: string;
  readonly endsAtMs: number;
}

/** The token of the installation that a Secret names. Throws an AppError without secrets in it. */
export type MintToken = (
  texts: SecretTexts,
  signal?: AbortSignal | undefined,
) => Promise<InstallationToken>;

/** The keys of a Secret that an agent never gets. */
export const githubAppKeys = [
  "githubAppID",
  "githubAppPrivateKey",
  "githubAppInstallationOwner",
  "githubAppInstallationID",
  "githubAppBaseURL",
] as const;

/** What is asked of GitHub for a Secret. */
export interface GithubApp {
  readonly id: string;
  readonly privateKey: string;
  readonly installation: { readonly id: string } | { readonly owner: string };
  /** Without a slash at its end. */
  readonly baseUrl: string;
}

/** A token that ends sooner is replaced. */
export const renewBeforeMs = 20 * 60_000;
const requestTimeoutMs = 20_000;
const maxCached = 1_000;
const maxBytes = 256 * 1024;

const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.iso.datetime() });
const installationSchema = z.object({ id: z.number().int() });

export function isGithubApp(texts: SecretTexts): boolean {
  return isSet(texts["githubAppID"]);
}

/** Throws GIT_SECRET_INVALID, which names the key. */
export function parseGithubApp(texts: SecretTexts): GithubApp {
  const { githubAppID: id, githubAppPrivateKey: privateKey } = texts;
  const { githubAppInstallationOwner: owner, githubAppInstallationID: installationId } = texts;
  if (!isSet(id)) throw invalid("githubAppID is missing in the secret");
  if (!isSet(privateKey)) throw invalid("githubAppPrivateKey is missing in the secret");
  if (isSet(owner) === isSet(installationId))
    throw invalid(
      "the secret needs either githubAppInstallationOwner or githubAppInstallationID, and has both or neither",
    );
  const baseUrl = texts["githubAppBaseURL"]?.trim() ?? "";
  const url = URL.parse(baseUrl === "" ? "https://api.github.com" : baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid("githubAppBaseURL of the secret is not an address with https:// or http://");
  return {
    id: id.trim(),
    privateKey,
    installation: isSet(owner) ? { owner: owner.trim() } : { id: (installationId ?? "").trim() },
    baseUrl: url.href.replace(/\/+$/, ""),
  };
}

/** The token with which the App itself asks: RFC 7519, RS256. Throws GIT_SECRET_INVALID for a key that is none. */
export function appToken({ id, privateKey }: GithubApp, nowMs: number): string {
  const now = Math.floor(nowMs / 1000);
  const part = (content: object): string =>
    Buffer.from(JSON.stringify(content)).toString("base64url");
  // A minute back, for clocks that differ, and less than ten minutes long, as GitHub wants it.
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 60, exp: now + 540, iss: id })}`;
  const key = signingKey(privateKey);
  try {
    return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
  } catch {
    throw invalid(notPem);
  }
}

const notPem = "githubAppPrivateKey of the secret is not a private key in PEM";

/** GitHub's have 2,048 bits. Signing is done on the event loop, and takes eight times as long with each doubling. */
const mostBits = 4_096;

function signingKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Without the cause: it may quote the key.
    throw invalid(notPem);
  }
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (modulusLength > mostBits)
    throw invalid(
      `githubAppPrivateKey of the secret has ${modulusLength} bits, more than the limit of ${mostBits}: generate one on the page of the GitHub App`,
    );
  return key;
}

export function createTokenMinter(deps: {
  readonly exchange: Exchanger;
  readonly clock: Clock;
}): MintToken {
  const { exchange, clock } = deps;
  const tokens = new Map<string, InstallationToken>();

  return async (texts, signal) => {
    const app = parseGithubApp(texts);
    const key = createHash("sha256").update(JSON.stringify(app)).digest("base64");
    const known = tokens.get(key);
    if (known !== undefined && known.endsAtMs - clock.now() > renewBeforeMs) return known;
    const token = await mint(app, texts["ca.crt"], signal);
    tokens.delete(key);
    tokens.set(key, token);
    const [oldest] = tokens.keys();
    if (tokens.size > maxCached && oldest !== undefined) tokens.delete(oldest);
    return token;
  };

  async function mint(
    app: GithubApp,
    caPem: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<InstallationToken> {
    const access = { origin: new URL(app.baseUrl).origin, ...(isSet(caPem) && { caPem }) };
    const ask = (method: "GET" | "POST", path: string) =>
      request(app, access, { method, path, signal });
    const id =
      "id" in app.installation
        ? app.installation.id
        : await installationOf(app.installation.owner, (path) => ask("GET", path));
    const path = `/app/installations/${encodeURIComponent(id)}/access_tokens`;
    const { token, expires_at } = await read(await ask("POST", path), tokenSchema);
    return { token, endsAtMs: Date.parse(expires_at) };
  }

  function request(
    app: GithubApp,
    access: RepositoryAccess,
    {
      method,
      path,
      signal,
    }: {
      readonly method: "GET" | "POST";
      readonly path: string;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Exchange> {
    return exchange({
      method,
      url: new URL(`${app.baseUrl}${path}`),
      access,
      authorization: `Bearer ${appToken(app, clock.now())}`,
      headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
      ...(method === "POST" && { body: "" }),
      timeoutMs: requestTimeoutMs,
      signal,
      errorKind: gitErrors.GIT_UNREACHABLE,
    });
  }
}

/** The owner is an organisation or a user. */
async function installationOf(
  owner: string,
  get: (path: string) => Promise<Exchange>,
): Promise<string> {
  const name = encodeURIComponent(owner);
  const ofOrganisation = await get(`/orgs/${name}/installation`);
  if (ofOrganisation.status !== 404)
    return String((await read(ofOrganisation, installationSchema)).id);
  await readBody(ofOrganisation, { maxBytes, tooLarge: gitErrors.GIT_FAILED });
  return String((await read(await get(`/users/${name}/installation`), installationSchema)).id);
}

async function read<T>(response: Exchange, schema: z.ZodType<T>): Promise<T> {
  const { bytes } = await readBody(response, { maxBytes, tooLarge: gitErrors.GIT_FAILED });
  if (response.status === 401 || response.status === 403 || response.status === 404)
    throw new AppError(
      gitErrors.GIT_UNAUTHORIZED,
      `${response.request}: GitHub answered ${response.status}: it does not know this App, its key or its installation`,
    );
  if (response.status >= 300)
    throw new AppError(
      gitErrors.GIT_UNREACHABLE,
      `${response.request}: GitHub answered ${response.status}`,
    );
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    // Without the cause: it may quote a token.
    throw new AppError(
      gitErrors.GIT_FAILED,
      `${response.request}: the answer is not one of GitHub's interface for Apps`,
    );
  }
}

function invalid(message: string): AppError {
  return new AppError(gitErrors.GIT_SECRET_INVALID, message);
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}
