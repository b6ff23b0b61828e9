/** The access to a GitRepository: its Secrets, and for a GitHub App a token of its installation. */

import { AppError } from "@flotilla/shared/errors";
import type { GitRepository, GitRepositorySpec } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { accessFromSourceSecrets } from "@flotilla/shared/source/credentials";
import { accessToGit } from "@flotilla/shared/source/git";
import { parseGoDuration } from "@flotilla/shared/time";
import type { ReadSecret } from "../fluxsource/source-controller.ts";
import { SourceError } from "../fluxsource/source-error.ts";
import { gitFailure } from "./git-failure.ts";
import { isGithubApp, type MintToken } from "./github-app.ts";
import { textsOf, withToken } from "./token-secret.ts";

/** Throws a SourceError without a spec, which Flux's schema does not require. */
export function specOf({ spec }: GitRepository): GitRepositorySpec {
  if (spec !== undefined) return spec;
  throw new SourceError(fluxReason.urlInvalid, "the GitRepository has no spec: set spec.url", {
    stalls: true,
  });
}

/** The names of the Secrets that it is accessed with. */
export function accessSecrets({ spec }: GitRepository): readonly string[] {
  const names = [spec?.secretRef, spec?.proxySecretRef].flatMap((ref) => ref?.name ?? []);
  return [...new Set(names)];
}

/** What an access is made with besides Secrets. */
export interface GitAccessDeps {
  readonly mint: MintToken;
}

/** Throws a SourceError when a Secret does not exist or cannot be used. */
export async function gitAccess(
  repository: GitRepository,
  { secret, signal }: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  { mint }: GitAccessDeps,
): Promise<RepositoryAccess> {
  const { url, provider, secretRef, proxySecretRef } = specOf(repository);
  const read = (name: string | undefined): ReferencedObjectData | undefined => {
    const found = name === undefined ? undefined : secret(name);
    if (name === undefined || found !== undefined) return found;
    throw new SourceError(
      fluxReason.authenticationFailed,
      `there is no Secret ${name} in the namespace of the GitRepository`,
    );
  };
  try {
    const own = read(secretRef?.name);
    const isApp = own !== undefined && provider === "github" && isGithubApp(textsOf(own));
    const credentials = isApp ? withToken(own, (await mint(textsOf(own), signal)).token) : own;
    const settings = accessFromSourceSecrets(
      "GitRepository",
      { secret: credentials, proxySecret: read(proxySecretRef?.name) },
      { url, provider },
    );
    if (settings instanceof AppError)
      throw new SourceError(fluxReason.authenticationFailed, settings.message, { cause: settings });
    // No error quotes what the server responds: a source is read before any Policy judges its address.
    return accessToGit(url, settings);
  } catch (thrown) {
    throw gitFailure(thrown);
  }
}

/** `spec.timeout`; Flux's default is a minute. */
export function timeoutMsOf({ spec }: GitRepository): number {
  return parseGoDuration(spec?.timeout ?? "60s") ?? 60_000;
}
