/** The controller of GitRepositories: asks each for its references in its interval, and verifies signatures. */

import { AppError } from "@flotilla/shared/errors";
import { type GitRepository, gitRepositories } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { defineIndex } from "@flotilla/shared/kube/cache";
import { watch } from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describeUrl, mayHoldSecret, type RepositoryAccess } from "@flotilla/shared/source";
import type { GitClient, ResolvedReference, SignatureMode } from "@flotilla/shared/source/git";
import type { FluxInformers } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import type { FluxCondition } from "../fluxsource/conditions.ts";
import {
  createSourceController,
  type ReadSecret,
  type SourceController,
  type SourceControllerDeps,
} from "../fluxsource/source-controller.ts";
import { SourceError } from "../fluxsource/source-error.ts";
import { isUsable, type SourceResult } from "../fluxsource/source-status.ts";
import { pinMetadata, pinOfArtifact } from "../helmchart/artifact.ts";
import {
  lacksProvenance,
  provenanceOfArtifact,
  provenanceText,
  withProvenance,
} from "../helmchart/provenance.ts";
import { accessSecrets, type GitAccessDeps, gitAccess, specOf, timeoutMsOf } from "./access.ts";
import { gitFailure } from "./git-failure.ts";
import { textsOf } from "./token-secret.ts";
import {
  type IncludedTree,
  includeUnavailable,
  repositoryPin,
  repositoryProvenance,
  targetOf,
  treeDigest,
} from "./tree.ts";

export interface GitRepositoryDeps extends SourceControllerDeps, GitAccessDeps {
  readonly flux: Pick<FluxInformers, "gitRepositories">;
  readonly git: Pick<GitClient, "resolve" | "verify">;
  readonly signer: PinSigner;
}

/** GitRepositories by those that they include. */
const byIncluded = defineIndex<GitRepository>("included", ({ metadata, spec }) =>
  (spec?.include ?? []).map(({ repository }) =>
    keyOf({ namespace: metadata.namespace ?? "", name: repository.name }),
  ),
);

export function createGitRepositoryController(
  deps: GitRepositoryDeps,
): SourceController<GitRepository> {
  const { flux, git, signer } = deps;
  const { store } = flux.gitRepositories;

  function includedOf({ metadata, spec }: GitRepository): readonly IncludedTree[] {
    return (spec?.include ?? []).map((include) => {
      const { name } = include.repository;
      const repository = store.get(keyOf({ namespace: metadata.namespace ?? "", name }));
      if (repository === undefined) throw includeUnavailable(fluxReason.notFound, name);
      const { artifact } = repository.status ?? {};
      const pin = isUsable(repository)
        ? pinOfArtifact("GitRepository", repository.metadata, artifact, signer)
        : undefined;
      if (pin?.kind !== "git") throw includeUnavailable(fluxReason.noArtifact, name);
      const { fromPath = "" } = include;
      const [provenance] =
        provenanceOfArtifact("GitRepository", repository.metadata, artifact, signer) ?? [];
      return { repository, tree: pin, provenance, fromPath, toPath: targetOf(include) };
    });
  }

  async function read(
    repository: GitRepository,
    { secret, signal }: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  ): Promise<SourceResult> {
    const spec = specOf(repository);
    const included = includedOf(repository);
    const access = await gitAccess(repository, { secret, signal }, deps);
    const request = { access, signal, timeoutMs: timeoutMsOf(repository) };
    const found = await git.resolve(spec.url, spec.ref ?? {}, request);
    const conditions = await verified(repository, found, secret, request);
    const pin = repositoryPin(spec, found.commit, included);
    const { namespace, name } = repository.metadata;
    const { ignore, recurseSubmodules, include, sparseCheckout, verify } = spec;
    const artifact = {
      revision: found.revision,
      digest: treeDigest(pin),
      url: describeUrl(spec.url),
      path: `gitrepository/${namespace}/${name}/${found.commit}.tar.gz`,
      metadata: pinMetadata("GitRepository", repository.metadata, pin, signer),
    };
    const provenance = repositoryProvenance(spec, found, included);
    return {
      artifact: withProvenance(
        "GitRepository",
        repository.metadata,
        { artifact, provenance },
        signer,
      ),
      message: `stored artifact for revision '${found.revision}'`,
      conditions,
      fields: {
        observedIgnore: ignore,
        observedRecurseSubmodules: recurseSubmodules === true ? true : undefined,
        observedInclude: include,
        observedSparseCheckout: sparseCheckout,
        sourceVerificationMode: verify?.mode,
        includedArtifacts:
          included.length === 0
            ? undefined
            : included.flatMap((each) => each.repository.status?.artifact ?? []),
      },
    };
  }

  async function verified(
    { spec }: GitRepository,
    found: ResolvedReference,
    secret: ReadSecret,
    request: {
      readonly access: RepositoryAccess;
      readonly signal: AbortSignal;
      readonly timeoutMs: number;
    },
  ): Promise<readonly FluxCondition[]> {
    if (spec?.verify === undefined) return [];
    const { name } = spec.verify.secretRef;
    const keys = secret(name);
    if (keys === undefined)
      throw new SourceError(
        fluxReason.verificationError,
        `there is no Secret ${name} with the keys of spec.verify in the namespace of the GitRepository`,
        { condition: fluxType.sourceVerified },
      );
    const mode: SignatureMode = spec.verify.mode;
    const texts = Object.entries(textsOf(keys)).flatMap(([key, text]) =>
      text === undefined ? [] : [[key, text] as const],
    );
    const what = await git.verify(
      { url: spec.url, ...found },
      { mode, keys: Object.fromEntries(texts) },
      request,
    );
    const message = `verified signature of ${what}`;
    return [
      { type: fluxType.sourceVerified, status: "True", reason: fluxReason.succeeded, message },
    ];
  }

  return createSourceController<GitRepository>(
    {
      name: "gitrepository",
      resource: gitRepositories,
      failureReason: fluxReason.gitOperationFailed,
      intervalOf: ({ spec }) => spec?.interval,
      addressOf: ({ spec }) =>
        spec === undefined || mayHoldSecret(spec.url)
          ? ""
          : `${spec.url} ${spec.ref?.branch ?? ""}`,
      secretsOf: (repository) => {
        const keys = repository.spec?.verify?.secretRef.name;
        return [...new Set([...accessSecrets(repository), ...(keys === undefined ? [] : [keys])])];
      },
      inputsOf: ({ metadata, spec }) =>
        (spec?.include ?? [])
          .map(({ repository: { name } }) => {
            const found = store.get(keyOf({ namespace: metadata.namespace ?? "", name }));
            const { artifact } = found?.status ?? {};
            return artifact === undefined
              ? "none"
              : `${artifact.digest} ${provenanceText(artifact)}`;
          })
          .join(" "),
      isDamaged: (repository) =>
        repository.status?.artifact !== undefined &&
        (pinOfArtifact("GitRepository", repository.metadata, repository.status.artifact, signer) ===
          undefined ||
          lacksProvenance("GitRepository", repository, signer)),
      read: (repository, inputs) =>
        read(repository, inputs).catch((thrown: unknown) => {
          throw inputs.signal.aborted && !(thrown instanceof AppError)
            ? thrown
            : gitFailure(thrown);
        }),
    },
    flux.gitRepositories,
    {
      ...deps,
      watches: [
        watch(flux.gitRepositories, {
          toKeys: ({ key }) => store.byIndex(byIncluded, key).map(keyOf),
          replay: false,
        }),
      ],
    },
  );
}
