/**
 * The controller of OCIRepositories: asks the registry for the digest of the reference in each interval, by one HEAD request for a
 * tag, and reads the manifest of a new one. What agents need to install the chart is in the signed pin of the artifact.
 */

import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { type OCIRepository, ociRepositories } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { RepositoryError } from "@flotilla/shared/source";
import {
  formatRevision,
  type OciArtifact,
  type OciArtifacts,
  type OciQuery,
  type OciRevision,
} from "@flotilla/shared/source/oci";
import type { FluxInformers } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import { secretNames, sourceAccess } from "../fluxsource/access.ts";
import type { FluxCondition } from "../fluxsource/conditions.ts";
import {
  createSourceController,
  type ReadSecret,
  type SourceController,
  type SourceControllerDeps,
} from "../fluxsource/source-controller.ts";
import { SourceError } from "../fluxsource/source-error.ts";
import type { SourceArtifact, SourceResult } from "../fluxsource/source-status.ts";
import { timeoutOf } from "../fluxsource/timeout.ts";
import { trustedKeysDigest, verifySignature } from "../fluxsource/verification.ts";
import {
  pinMetadata,
  pinOfArtifact,
  problemMetadata,
  problemOfArtifact,
} from "../helmchart/artifact.ts";
import {
  lacksProvenance,
  type Provenance,
  provenanceOfArtifact,
  withProvenance,
} from "../helmchart/provenance.ts";
import { chartPinOf } from "./chart-pin.ts";
import { planOf } from "./validate.ts";

export interface OciRepositoryDeps extends SourceControllerDeps {
  readonly flux: Pick<FluxInformers, "ociRepositories">;
  readonly artifacts: OciArtifacts;
  readonly signer: Pick<PinSigner, "sign" | "isSigned">;
}

/** The limit of the annotations of a manifest, which its author chooses. */
const maxAnnotationBytes = 16 * 1024;

export function createOciRepositoryController(
  deps: OciRepositoryDeps,
): SourceController<OCIRepository> {
  const { artifacts, signer } = deps;

  const hasPin = ({ metadata, status }: OCIRepository): boolean =>
    problemOfArtifact(status?.artifact) !== undefined ||
    pinOfArtifact("OCIRepository", metadata, status?.artifact, signer) !== undefined;

  async function read(
    object: OCIRepository,
    secret: ReadSecret,
    signal: AbortSignal,
  ): Promise<SourceResult> {
    const { spec, repository } = planOf(object.spec);
    const access = sourceAccess("OCIRepository", spec, { kind: "oci", repository }, secret);
    const query = { repository, access, signal };
    const ref = spec.ref ?? {};
    const mediaType = spec.layerSelector?.mediaType;
    const tag = await failingAs(
      fluxReason.readOperationFailed,
      artifacts.tagOf(query, ref, mediaType),
    );
    const digest =
      tag === undefined
        ? (ref.digest ?? "")
        : await failingAs(fluxReason.ociPullFailed, artifacts.digestOf(query, tag));
    const revision = { digest, ...(tag !== undefined && { tag }) };
    const known = unchangedArtifact(object, formatRevision(revision));
    const keys = spec.verify && trustedKeysDigest(spec.verify, secret);
    const before = provenanceOfArtifact("OCIRepository", object.metadata, known, signer)?.[0];
    const isVerified = known !== undefined && before?.keys !== undefined && before.keys === keys;
    const conditions = await verified(object, query, { revision, secret, isVerified });
    const found = known ?? artifactOf(object, { repository, revision }, await readArtifact());
    const provenance = [provenanceOf(spec.verify, keys)];
    const artifact = withProvenance(
      "OCIRepository",
      object.metadata,
      { artifact: found, provenance },
      signer,
    );
    return {
      artifact,
      message: `stored artifact for digest '${artifact.revision}'`,
      conditions,
      fields: {
        url: artifact.url,
        observedIgnore: spec.ignore,
        observedLayerSelector: spec.layerSelector,
      },
    };

    function readArtifact(): Promise<OciArtifact> {
      return failingAs(fluxReason.ociPullFailed, artifacts.read(query, digest, mediaType));
    }
  }

  /** What the status has, when it is of this revision and of this generation of the spec. */
  function unchangedArtifact(object: OCIRepository, revision: string): SourceArtifact | undefined {
    const { metadata, status } = object;
    const isCurrent =
      status?.artifact?.revision === revision && status.observedGeneration === metadata.generation;
    return isCurrent && hasPin(object) ? status.artifact : undefined;
  }

  function artifactOf(
    { metadata }: OCIRepository,
    { repository, revision }: { readonly repository: string; readonly revision: OciRevision },
    artifact: OciArtifact,
  ): Omit<SourceArtifact, "lastUpdateTime"> {
    const pin = chartPinOf(repository, revision, artifact);
    const { digest } = revision;
    return {
      revision: formatRevision(revision),
      digest: artifact.layer.digest,
      size: artifact.layer.sizeBytes,
      url: `${repository}@${digest}`,
      path: `ocirepository/${metadata.namespace}/${metadata.name}/${digest}.tar.gz`,
      metadata: {
        ...limitedAnnotations(artifact.annotations),
        ...("reason" in pin
          ? problemMetadata(pin)
          : pinMetadata("OCIRepository", metadata, pin, signer)),
      },
    };
  }

  async function verified(
    { metadata, spec, status }: OCIRepository,
    query: OciQuery,
    {
      revision,
      secret,
      isVerified,
    }: {
      readonly revision: OciRevision;
      readonly secret: ReadSecret;
      readonly isVerified: boolean;
    },
  ): Promise<readonly FluxCondition[]> {
    if (spec?.verify === undefined) return [];
    const before = findCondition(status?.conditions, fluxType.sourceVerified);
    const { type, status: is, reason = "", message = "", observedGeneration } = before ?? {};
    if (isVerified && type && is === "True" && observedGeneration === metadata.generation)
      return [{ type, status: is, reason, message }];
    const condition = await verifySignature(spec.verify, {
      artifacts,
      query,
      digest: revision.digest,
      secret,
      what: `revision ${formatRevision(revision)}`,
      failure: { reason: fluxReason.verificationError, condition: fluxType.sourceVerified },
    });
    return [condition];
  }

  return createSourceController<OCIRepository>(
    {
      name: "ocirepository",
      resource: ociRepositories,
      failureReason: fluxReason.ociPullFailed,
      intervalOf: ({ spec }) => spec?.interval,
      addressOf: ({ spec }) => spec?.url ?? "",
      secretsOf({ spec }) {
        const verify = spec?.verify?.secretRef?.name;
        const names = spec === undefined ? [] : secretNames(spec);
        return [...new Set([...names, ...(verify === undefined ? [] : [verify])])];
      },
      isDamaged: (object) =>
        object.status?.artifact !== undefined &&
        (!hasPin(object) || lacksProvenance("OCIRepository", object, signer)),
      read: (object, { secret, signal }) =>
        timeoutOf(object.spec?.timeout, signal, (limited) => read(object, secret, limited)),
    },
    deps.flux.ociRepositories,
    deps,
  );
}

/** The result, or a SourceError with this reason. */
async function failingAs<T>(reason: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    if (thrown instanceof SourceError) throw thrown;
    const error = AppError.from(thrown);
    throw new SourceError(reason, error.message, {
      cause: error,
      ...(error instanceof RepositoryError && { retryAfterMs: error.retryAfterMs }),
    });
  }
}

/** Only after it was verified: a reading that fails before is not a verification with these keys. */
function provenanceOf(
  verify: NonNullable<OCIRepository["spec"]>["verify"],
  keys: string | undefined,
): Provenance[number] {
  const name = verify?.secretRef?.name;
  return name === undefined || keys === undefined ? {} : { verifiedBy: name, keys };
}

/** Without Flotilla's own annotations, which are not for the author to write. */
function limitedAnnotations(
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  let left = maxAnnotationBytes;
  const kept = Object.entries(annotations).filter(([key, value]) => {
    left -= key.length + value.length;
    return left >= 0 && !key.startsWith("flotilla.dev/");
  });
  return Object.fromEntries(kept);
}
