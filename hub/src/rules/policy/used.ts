/**
 * What a deployment uses: the accounts that it acts as, the Secrets and ConfigMaps of the hub that agents are sent for it, and every
 * address that files of its chart come from. Policies judge this list alone; what a content refers to beyond it would be sent
 * without any Policy, so a test compares the two. Pure.
 */
import type {
  BundleOrigin,
  ChartPin,
  ObjectRef,
  SourceAccess,
  SourceProvenance,
} from "@flotilla/shared/api";
import { targetName } from "@flotilla/shared/api/names";
import type { GitPin, Pin } from "@flotilla/shared/source";
import { copiesOf as copiedObjects } from "../content/build-content.ts";
import { type ChartReference, chartReferenceOf, mayReferenceChart } from "../frontend/charts.ts";
import type { PlannedRelease, ReleaseSpec } from "../frontend/planned-release.ts";

/** Something that is requested, and by which target; the object itself has no target name. */
export interface Part<T> {
  readonly requested: T;
  readonly target?: string;
}

export interface UsedAccount {
  /** As a Policy lists it; "": none. */
  readonly name: string;
  /** The namespace on the hub of the HelmRelease that names it; absent: the name is one in the cluster. */
  readonly namespace?: string;
}

export interface UsedObject extends ObjectRef {
  /** On the hub. */
  readonly namespace: string;
  /** The field that names it. */
  readonly field: string;
  /** For a chart's source, or for the cluster: a copy, or values. */
  readonly purpose: "source" | "cluster";
}

export interface UsedAddress {
  readonly address: string;
  /** What is there, for messages. */
  readonly what: string;
}

/** What files of a chart come from, and how it was resolved. */
export interface UsedSource extends UsedAddress {
  /** Whether it has references of Git, and signatures. */
  readonly kind: "git" | "oci" | "unsigned";
  /** Absent: not known, because an earlier version resolved it. */
  readonly resolved?: {
    /** In Git: the full name of the reference, or the commit when only that was named. */
    readonly ref?: string | undefined;
    /** The Secret with whose keys its signature was verified. */
    readonly verifiedBy?: { readonly namespace: string; readonly name: string };
  };
  /** What was found of the chart itself: a source that is suspended or fails keeps a pin that it found under another name or address. */
  readonly found?: {
    /** Absent: not known. */
    readonly repository?: string | undefined;
    /** Absent: not known; "": the repository is the chart. */
    readonly chart?: string | undefined;
  };
}

export interface Used {
  /** For messages: the kind, and the namespace that its Policies need not be named with. */
  readonly kind: string;
  readonly namespace: string;
  /** The first is for the whole, the others are for the targets. */
  readonly accounts: readonly [Part<UsedAccount>, ...Part<UsedAccount>[]];
  readonly objects: readonly Part<UsedObject>[];
  readonly charts: readonly Part<ChartReference>[];
  /** Beside the ones in `charts`. */
  readonly addresses: readonly UsedAddress[];
  /** The chart's own, those that it includes, and the repositories of its dependencies. */
  readonly sources: readonly UsedSource[];
  /** The repositories whose submodules are fetched, from addresses that only their commits name. */
  readonly withSubmodules: readonly string[];
}

/** What a release uses. */
export function usedBy(release: PlannedRelease): Used {
  const { kind, metadata, origin, pins = [] } = release;
  const namespace = metadata.namespace ?? "";
  const trees = pins.flatMap(({ pin }) => treesOf(pin));
  return {
    kind,
    namespace,
    accounts: accountsOf(release),
    objects: [
      ...sourceSecretsOf(release, namespace),
      ...(origin?.valuesFrom ?? []).map(({ kind: kindOfValues, name }) => ({
        requested: {
          kind: kindOfValues,
          ...placed(name, namespace),
          field: "valuesFrom",
          purpose: "cluster" as const,
        },
      })),
      ...copiesOf(release, namespace),
    ],
    charts: chartsOf(release),
    addresses: [
      ...sourcesOf(origin).flatMap(({ kind: what, url }) =>
        url === undefined ? [] : [{ address: url, what }],
      ),
      ...pins.flatMap(({ pin }) => addressOf(pin)),
      ...trees.map(({ url }) => ({ address: url, what: "GitRepository" })),
      ...(origin?.repositories ?? []).map((address) => ({ address, what: "dependency from" })),
    ],
    sources: origin === undefined ? referencesOf(release) : resolvedSourcesOf(origin, pins),
    withSubmodules: trees.flatMap((tree) => (tree.recurseSubmodules === true ? [tree.url] : [])),
  };
}

/** A repository and those that it includes: the pin has what is fetched, whatever the sources say now. */
function treesOf(pin: Pin): readonly Pick<GitPin, "url" | "recurseSubmodules">[] {
  return pin.kind === "git" ? [pin, ...(pin.include ?? [])] : [];
}

/** The sources of a HelmOp, or a Bundle by hand: they have no signatures. */
function referencesOf(release: PlannedRelease): readonly UsedSource[] {
  const { kind: what } = release;
  return chartsOf(release).map(({ requested: { repo, chart } }) => ({
    what,
    address: repo === "" ? chart : repo,
    kind: "unsigned",
  }));
}

function resolvedSourcesOf(
  { access, provenance = [], repositories = [] }: BundleOrigin,
  pins: readonly ChartPin[],
): readonly UsedSource[] {
  const what = access?.kind ?? "source";
  const unsigned = (address: string, its: string): UsedSource => ({
    what: its,
    address,
    kind: "unsigned",
  });
  return [
    // There is one, and it has the provenance of the first.
    ...pins.flatMap(({ pin, repo = "" }, index): readonly UsedSource[] => {
      const known = index === 0 ? provenance : [];
      const chart = access?.kind === "OCIRepository" ? "" : known[0]?.chart;
      if (pin.kind === "oci") {
        const { repository } = pin;
        const found = { repository, chart };
        return [{ what, address: repository, kind: "oci", found, ...resolved(known[0]) }];
      }
      if (pin.kind !== "git") {
        const repository = addressOf(pin)[0]?.address ?? known[0]?.repository;
        const address = repository ?? access?.url ?? repo;
        return [{ ...unsigned(address, what), found: { repository, chart } }];
      }
      return treesOf(pin).map(({ url }, at) => {
        const its = known[at];
        return {
          what: "GitRepository",
          address: url,
          kind: "git",
          ...(at === 0 && { found: { repository: url, chart } }),
          ...(its?.ref !== undefined && resolved(its)),
        };
      });
    }),
    ...repositories.map((address) => unsigned(address, "dependency from")),
  ];
}

function resolved(provenance: SourceProvenance | undefined): Pick<UsedSource, "resolved"> {
  if (provenance === undefined) return {};
  const { ref, verifiedBy } = provenance;
  return {
    resolved: { ref, ...(verifiedBy !== undefined && { verifiedBy: placed(verifiedBy, "") }) },
  };
}

/** As `SourceAccess.url` of a Bucket has it. */
function addressOf(pin: Pin): readonly UsedAddress[] {
  if (pin.kind !== "bucket") return [];
  const scheme = pin.insecure === true ? "http" : "https";
  return [{ address: `${scheme}://${pin.endpoint}/${pin.bucketName}`, what: "Bucket" }];
}

function sourcesOf(origin: BundleOrigin | undefined): readonly SourceAccess[] {
  const { access, included = [], dependencies = [] } = origin ?? {};
  return [...(access === undefined ? [] : [access]), ...included, ...dependencies];
}

function sourceSecretsOf(
  { origin, source: { secretName } }: PlannedRelease,
  namespace: string,
): readonly Part<UsedObject>[] {
  const secret = (name: string | undefined, field: string): readonly Part<UsedObject>[] =>
    name === undefined || name === ""
      ? []
      : [
          {
            requested: {
              kind: "Secret" as const,
              ...placed(name, namespace),
              field,
              purpose: "source",
            },
          },
        ];
  if (origin?.access === undefined) return secret(secretName, "helmSecretName");
  return sourcesOf(origin).flatMap((source) => [
    ...secret(source.secret, `secretRef of the ${source.kind}`),
    ...secret(source.certSecret, `certSecretRef of the ${source.kind}`),
    ...secret(source.proxySecret, `proxySecretRef of the ${source.kind}`),
  ]);
}

function placed(name: string, own: string): { readonly namespace: string; readonly name: string } {
  const at = name.indexOf("/");
  return at < 0
    ? { namespace: own, name }
    : { namespace: name.slice(0, at), name: name.slice(at + 1) };
}

function copiesOf({ spec }: PlannedRelease, namespace: string): readonly Part<UsedObject>[] {
  const copy = ({ kind, name }: ObjectRef): UsedObject => ({
    kind,
    ...placed(name, namespace),
    field: "downstreamResources",
    purpose: "cluster",
  });
  const ofTargets = partsOf(spec, copiedObjects).flatMap(({ requested, target }) =>
    requested.map((each) => ({ requested: copy(each), target })),
  );
  return [...copiedObjects(spec).map((each) => ({ requested: copy(each) })), ...ofTargets];
}

function accountsOf({
  spec,
  origin,
}: PlannedRelease): readonly [Part<UsedAccount>, ...Part<UsedAccount>[]] {
  const ofTargets = partsOf(spec, ({ serviceAccount }) => ({ name: serviceAccount ?? "" }));
  const [, , namespace, name] = (origin?.serviceAccount ?? "").split(":");
  if (namespace !== undefined && name !== undefined)
    return [{ requested: { namespace, name } }, ...ofTargets];
  return [{ requested: { name: spec.serviceAccount ?? "" } }, ...ofTargets];
}

function chartsOf({ spec }: PlannedRelease): readonly Part<ChartReference>[] {
  const own = chartReferenceOf(spec.helm ?? {});
  const targets = (spec.targets ?? []).flatMap((target, index) =>
    mayReferenceChart(target)
      ? [
          {
            requested: chartReferenceOf(target.helm ?? {}, own),
            target: target.name || targetName(index),
          },
        ]
      : [],
  );
  return [{ requested: own }, ...targets];
}

/** The parts of the targets that deploy something. */
function partsOf<T>(
  { targets }: ReleaseSpec,
  requested: (target: NonNullable<ReleaseSpec["targets"]>[number]) => T,
): readonly (Part<T> & { readonly target: string })[] {
  return (targets ?? []).flatMap((target, index) =>
    target.doNotDeploy === true
      ? []
      : [{ requested: requested(target), target: target.name || targetName(index) }],
  );
}
