/**
 * What an object of a front end asks for, whatever its kind: HelmOps, HelmReleases and Bundles by hand are compiled to it, and every
 * rule about releases reads it. Its charts may still have to be resolved. Pure.
 */
import type {
  Bundle,
  BundleOrigin,
  BundleSpec,
  BundleTarget,
  ChartPin,
  HelmOp,
} from "@flotilla/shared/api";
import { createdByNameLabel, helmOpLabel } from "@flotilla/shared/api/names";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";

export interface PlannedRelease {
  /** The kind of the object, for messages. */
  readonly kind: string;
  /** The object's own. */
  readonly metadata: ObjectMeta;
  /** Options and targets, with charts as they were requested. */
  readonly spec: ReleaseSpec;
  readonly source: ReleaseSource;
  /** What only the hub may write: as whom and with which objects agents act. */
  readonly origin?: BundleOrigin | undefined;
  /** Its Bundle, in the namespace of the object. */
  readonly bundle: Pick<ObjectMeta, "name" | "labels">;
  /** Charts that are resolved already. */
  readonly pins?: readonly ChartPin[] | undefined;
}

export type ReleaseSpec = Omit<BundleSpec, "helmOpOptions">;

/** How the sources of its charts are accessed. */
export interface ReleaseSource {
  /** The Secret with credentials, in the namespace of the object. */
  readonly secretName?: string | undefined;
  readonly insecureSkipTLSVerify?: boolean | undefined;
  /** How often they are asked for new versions: a duration as Go writes it. */
  readonly pollingInterval?: string | null | undefined;
}

/** The target of a HelmOp without targets: the ClusterGroup `default` of its namespace, as in Fleet. */
const defaultTarget: BundleTarget = { name: "default", clusterGroup: "default" };

/** The release of a HelmOp; its Bundle has its name. */
export function releaseOfHelmOp({ kind = "HelmOp", metadata, spec }: HelmOp): PlannedRelease {
  const {
    labels,
    helmOpOptions: _ignored,
    resources: _resources,
    // Its targets have no customizations, as in Fleet.
    targetCustomizationMode: _mode,
    helmSecretName,
    insecureSkipTLSVerify,
    pollingInterval,
    ...options
  } = spec;
  return {
    kind,
    metadata,
    spec: { ...options, targets: options.targets?.length ? options.targets : [defaultTarget] },
    source: { secretName: helmSecretName || undefined, insecureSkipTLSVerify, pollingInterval },
    bundle: {
      name: metadata.name,
      labels: { ...withoutDeprecated(labels), [helmOpLabel]: metadata.name },
    },
  };
}

/** The Bundle controller removes it, and both would write for ever. */
function withoutDeprecated(labels: HelmOp["spec"]["labels"]): Record<string, string> {
  const { [createdByNameLabel]: _, ...kept } = labels ?? {};
  return kept;
}

/**
 * The release of a Bundle. `kind`: the kind of the object which it was made for. One with an origin has the account and the Secret of
 * that.
 */
export function releaseOfBundle({ metadata, spec }: Bundle): PlannedRelease {
  const { helmOpOptions, ...options } = spec;
  const { helmOpSecretName, helmOpInsecureSkipTLSVerify, origin, pins } = helmOpOptions ?? {};
  const account = origin?.serviceAccount?.replace(/^.*:/, "");
  const secretName = origin?.access?.secret?.replace(/^.*\//, "") ?? helmOpSecretName;
  return {
    kind: origin?.kind ?? "Bundle",
    metadata,
    spec: { ...options, ...(account !== undefined && { serviceAccount: account }) },
    source: {
      secretName: secretName || undefined,
      insecureSkipTLSVerify: helmOpInsecureSkipTLSVerify,
    },
    bundle: metadata,
    ...(origin !== undefined && { origin, pins }),
  };
}
