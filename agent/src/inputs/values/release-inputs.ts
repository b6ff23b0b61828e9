/**
 * What Helm gets besides the chart: the values for this cluster, and the downstream resources of the release. They come from
 * the deployment's content, the cluster info, referenced objects and objects of this cluster.
 */

import { copyOf } from "@flotilla/shared/api";
import {
  type DeploymentContent,
  type ReleaseParts,
  releaseDigest,
  releasePartsOf,
  type ValuesSource,
} from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isForbidden } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import type { Clock } from "@flotilla/shared/time";
import { mergeValues, type Values } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { ReleaseRecord } from "../../helm/index.ts";
import { type ReferencedDeps, type ReferenceUse, requireObject } from "../../state/index.ts";
import type { DownstreamResource } from "../downstream/downstream-object.ts";
import { type HubValues, readHubValues } from "./hub-values.ts";
import { redact, type SecretTexts, secretTexts } from "./redact-secrets.ts";
import { hasTemplates, type RenderValues } from "./render-values.ts";
import type { ValueLayer } from "./value-origins.ts";
import { parseValuesSource, type ReadYaml, type SourceObject } from "./values-source.ts";
import { createSourceWatches, type WatchedSource } from "./watched-sources.ts";

export interface ReleaseInputs {
  readonly downstream: readonly DownstreamResource[];
  /**
   * Digest of what the values are rendered from, with everything else that Helm gets; absent if nothing is rendered. A release
   * with the same origin is in sync without running Helm, after a restart too, even if a template
   * has another result each time, such as a password.
   */
  readonly origin?: string;
  /** The release digest. Renders nothing if `installed` has the same origin. Throws VALUES_TEMPLATE_FAILED and VALUES_SOURCE_INVALID. */
  digest(installed: Pick<ReleaseRecord, "origin" | "digest"> | undefined): Promise<string>;
  /** Throws VALUES_TEMPLATE_FAILED and VALUES_SOURCE_INVALID. */
  final(): Promise<FinalInputs>;
  /** Removes values of Secrets from a message of Helm. */
  redact(text: string): string;
}

export interface FinalInputs {
  /** Absent: Helm gets no values. */
  readonly values?: Values;
  readonly digest: string;
  /** The parts of the digest. */
  readonly parts: ReleaseParts;
}

export interface CollectOptions {
  /** The id of the release. */
  readonly id: string;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

export interface CollectOnceOptions extends Pick<CollectOptions, "client" | "signal"> {
  readonly referenced: ReferencedDeps["referenced"];
}

export interface InputCollector {
  /**
   * Throws REFERENCED_OBJECT_PENDING, REFERENCED_OBJECT_NOT_FOUND, VALUES_SOURCE_MISSING, VALUES_SOURCE_INVALID and LIMIT_EXCEEDED.
   * From then on the objects of the cluster that were read are watched.
   */
  collect(content: DeploymentContent, options: CollectOptions): Promise<ReleaseInputs>;
  /**
   * The same once, and nothing is watched or kept: for what is not installed. `referenced`: in place of what is stored. Throws what
   * `collect` throws.
   */
  collectOnce(content: DeploymentContent, options: CollectOnceOptions): Promise<ReleaseInputs>;
  /**
   * The layers of the values, lowest first, without the chart's. Nothing is watched or kept: for a request of a user. Throws
   * what `collect` and its result throw.
   */
  layers(
    content: DeploymentContent,
    options: Pick<CollectOptions, "client" | "signal">,
  ): Promise<ReadLayers>;
  /** Ends the watches of a release. */
  forget(id: string): void;
  /** Called with the releases whose watched objects have changed. */
  onChange(listener: (ids: ReadonlySet<string>) => void): void;
  /** Ends all watches. */
  end(): Promise<void>;
}

export interface ReadLayers {
  readonly layers: readonly ValueLayer[];
  /** Removes values of Secrets from a text. */
  redact(text: string): string;
}

export interface InputCollectorDeps extends ReferencedDeps {
  readonly renderValues: RenderValues;
  readonly readYaml: ReadYaml;
  readonly clock: Clock;
  readonly log: Log;
}

interface Rendered {
  readonly origin: string;
  readonly final: FinalInputs;
}

const downstreamUse: ReferenceUse = {
  field: "downstreamResources",
  purpose: "which is copied into the release's namespace",
};

export function createInputCollector(deps: InputCollectorDeps): InputCollector {
  const listeners: ((ids: ReadonlySet<string>) => void)[] = [];
  const watches = createSourceWatches({
    ...deps,
    onChange(followers) {
      for (const listener of listeners) listener(followers);
    },
  });
  /** The last result of each release, so that a reconcile without changes does not run Helm. */
  const rendered = new Map<string, Rendered>();

  return {
    async collect(content, options) {
      const { id, signal } = options;
      const watched = sourcesToWatch(content.valuesFrom ?? [], content, options.client);
      // What is missing from the hub is said before the cluster is read.
      requireDownstream(content, deps);
      requireClusterInfo(content, deps);
      await watches.follow(id, watched);
      const found = await readInputs(deps, content, options);
      if (found.origin === undefined) rendered.delete(id);
      const { origin, render } = found;
      return releaseInputs(found, async () => {
        if (origin === undefined) return await render(signal);
        const last = rendered.get(id);
        if (last?.origin === origin) return last.final;
        const fresh = { origin, final: await render(signal) };
        rendered.set(id, fresh);
        return fresh.final;
      });
    },
    async collectOnce(content, { client, signal, referenced }) {
      const found = await readInputs({ ...deps, referenced }, content, { client, signal });
      let final: Promise<FinalInputs> | undefined;
      return releaseInputs(found, () => {
        final ??= found.render(signal);
        return final;
      });
    },
    async layers(content, options) {
      const downstream = requireDownstream(content, deps);
      const cluster = requireClusterInfo(content, deps);
      const read = await readValues(deps, { content, downstream, ...options });
      const own =
        cluster === undefined ? content.values : await deps.renderValues(content, cluster, options);
      return { layers: layersOf(content, own ?? {}, read), redact: redacting(content, read) };
    },
    forget(id) {
      rendered.delete(id);
      void watches.follow(id, []);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    end: () => watches.end(),
  };
}

/** What the values of a release are made of, read. */
interface FoundInputs extends Pick<ReleaseInputs, "downstream" | "redact"> {
  readonly origin: string | undefined;
  /** Throws VALUES_TEMPLATE_FAILED and VALUES_SOURCE_INVALID. */
  render(signal: AbortSignal): Promise<FinalInputs>;
}

async function readInputs(
  deps: InputCollectorDeps,
  content: DeploymentContent,
  { client, signal }: Pick<CollectOptions, "client" | "signal">,
): Promise<FoundInputs> {
  const downstream = requireDownstream(content, deps);
  // Where the hub has them does not change the release.
  const copied = downstream.map(({ ref, object }) => ({ ref, object }));
  const cluster = requireClusterInfo(content, deps);
  const read = await readValues(deps, { content, downstream, client, signal });
  const { sources, hubValues } = read;
  const origin =
    cluster &&
    releaseDigest(content, {
      values: unrendered(content, cluster, { sources, hubValues }),
      copies: copied,
    });
  return {
    downstream,
    origin,
    redact: redacting(content, read),
    async render(until) {
      const own =
        cluster === undefined
          ? content.values
          : await deps.renderValues(content, cluster, { signal: until });
      const values = sources.reduce<Values | undefined>(
        (under, over) => mergeValues(under ?? {}, over),
        hubValues.around(own),
      );
      const inputs = { values, copies: copied };
      return {
        ...(values !== undefined && { values }),
        digest: releaseDigest(content, inputs),
        parts: releasePartsOf(content, inputs),
      };
    },
  };
}

function releaseInputs(
  { downstream, origin, redact: redactText }: FoundInputs,
  final: () => Promise<FinalInputs>,
): ReleaseInputs {
  return {
    downstream,
    ...(origin !== undefined && { origin }),
    async digest(installed) {
      const hasSameOrigin = origin !== undefined && installed?.origin === origin;
      return hasSameOrigin && installed.digest !== undefined
        ? installed.digest
        : (await final()).digest;
    },
    final,
    redact: redactText,
  };
}

function requireDownstream(
  { copies = [] }: DeploymentContent,
  deps: ReferencedDeps,
): readonly DownstreamResource[] {
  return copies.map((ref) => ({
    ref: copyOf(ref),
    ...(copyOf(ref).name !== ref.name && { source: ref }),
    object: requireObject(ref, downstreamUse, deps),
  }));
}

interface ReadSources {
  /** The sources of `valuesFrom`. */
  readonly sources: readonly Values[];
  readonly hubValues: HubValues;
}

async function readValues(
  deps: InputCollectorDeps,
  options: ReadSourceOptions,
): Promise<ReadSources> {
  const { valuesFrom = [], hubValues = [] } = options.content;
  const sources: Values[] = [];
  for (const source of valuesFrom) sources.push(await readSource(deps, source, options));
  return { sources, hubValues: await readHubValues(hubValues, deps) };
}

function redacting(
  { valuesFrom = [] }: DeploymentContent,
  { sources, hubValues }: ReadSources,
): (text: string) => string {
  const isSecret = (_: Values, at: number): boolean => valuesFrom[at]?.kind === "Secret";
  const ofSecrets = [...sources.filter(isSecret), ...hubValues.secrets];
  let texts: SecretTexts | undefined;
  return (text) => {
    texts ??= secretTexts(ofSecrets);
    return redact(text, texts);
  };
}

/** `own`: the rendered values of the deployment, with its `templateValues`, which replace values by their name. */
function layersOf(
  { templateValues = {}, valuesFrom = [], namespace }: DeploymentContent,
  own: Values,
  { sources, hubValues }: ReadSources,
): readonly ValueLayer[] {
  const isTemplated = ([key]: [string, unknown]): boolean => Object.hasOwn(templateValues, key);
  const entries = Object.entries(own);
  return [
    ...hubValues.under,
    {
      origin: { kind: "spec" },
      values: Object.fromEntries(entries.filter((entry) => !isTemplated(entry))),
    },
    { origin: { kind: "templateValues" }, values: Object.fromEntries(entries.filter(isTemplated)) },
    ...sources.map((values, at): ValueLayer => {
      const {
        kind = "ConfigMap",
        namespace: of = namespace,
        name = "",
        key = "",
      } = valuesFrom[at] ?? {};
      return { origin: { kind, namespace: of, name, key }, values };
    }),
    ...hubValues.over,
  ];
}

/** Undefined if nothing is to be rendered. */
function requireClusterInfo(
  content: DeploymentContent,
  { clusterInfo }: Pick<ReferencedDeps, "clusterInfo">,
): ClusterInfo | undefined {
  if (!hasTemplates(content)) return undefined;
  const known = clusterInfo.get();
  if (known !== undefined) return known;
  throw new AppError(
    agentErrors.REFERENCED_OBJECT_PENDING,
    "waiting for the hub to send the cluster's labels and template values, which the templates in the values may use",
  );
}

interface ReadSourceOptions extends Pick<CollectOptions, "client" | "signal"> {
  readonly content: DeploymentContent;
  readonly downstream: readonly DownstreamResource[];
}

async function readSource(
  { readYaml }: Pick<InputCollectorDeps, "readYaml">,
  source: ValuesSource,
  { content, downstream, client, signal }: ReadSourceOptions,
): Promise<Values> {
  // A downstream resource may not exist in the cluster yet, so the hub's object is read.
  const own = downstream.find(({ ref }) => ref.kind === source.kind && ref.name === source.name);
  const namespace = source.namespace ?? content.namespace;
  const where = `${source.kind} ${own === undefined ? namespace : content.namespace}/${source.name}`;
  const object = own?.object ?? (await readObject(source, namespace, client, signal));
  if (object !== undefined) return await parseValuesSource(source, object, { where, readYaml });
  throw new AppError(
    agentErrors.VALUES_SOURCE_MISSING,
    `${where} not found, which valuesFrom references; the agent continues as soon as it exists`,
  );
}

async function readObject(
  { kind, name }: ValuesSource,
  namespace: string,
  { rest, subject }: ImpersonatedClient,
  signal: AbortSignal,
): Promise<SourceObject | undefined> {
  const resource: Resource<KubeObject & SourceObject> = kind === "Secret" ? secrets : configMaps;
  try {
    return await rest.get(resource, { namespace, name }, { signal });
  } catch (thrown) {
    // Other errors do not mean that it does not exist.
    if (!isForbidden(thrown)) throw thrown;
    throw new AppError(
      agentErrors.VALUES_SOURCE_MISSING,
      `read the ${kind} ${namespace}/${name} for valuesFrom as ${subject}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** A placeholder for values that are not rendered yet. */
function unrendered(
  { values, templateValues, valuesAreTemplates }: DeploymentContent,
  cluster: ClusterInfo,
  { sources, hubValues }: ReadSources,
): Values {
  return {
    values,
    templateValues,
    valuesAreTemplates,
    cluster,
    sources,
    // Only when there are any, so that their absence does not change the digest.
    ...(hubValues.sources.length > 0 && { hubValues: hubValues.sources }),
  };
}

/** Sources in this cluster; downstream resources come from the hub, with any namespace. */
function sourcesToWatch(
  sources: readonly ValuesSource[],
  { namespace, copies = [] }: DeploymentContent,
  { watch: client }: ImpersonatedClient,
): readonly WatchedSource[] {
  return sources
    .filter(
      ({ kind, name }) =>
        !copies.map(copyOf).some((copy) => copy.kind === kind && copy.name === name),
    )
    .map((source) => ({
      kind: source.kind,
      namespace: source.namespace ?? namespace,
      name: source.name,
      client,
    }));
}
