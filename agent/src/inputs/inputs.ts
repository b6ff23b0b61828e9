/**
 * What reaches Helm besides the chart: the values as they come out in this cluster, and what is copied beside the
 * release. From the deployment's content, the cluster's facts, what the hub supplied and the cluster's own objects.
 */

import {
  type DeploymentContent,
  releaseDigest,
  type ValuesSource,
} from "@flotilla/shared/content/content.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import { configMaps, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { ClusterFacts } from "@flotilla/shared/supply/cluster-facts.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { mergeValues, type Values } from "@flotilla/shared/values/merge-values.ts";
import type { Actor } from "../acting/actors.ts";
import type { Copy } from "../copies/copy-object.ts";
import { agentErrors } from "../errors.ts";
import type { ReleaseRecord } from "../helm/release-record.ts";
import { type SuppliedDeps, type SupplyUse, supplied } from "../supply/supplied.ts";
import { hasTemplates, type RenderValues } from "../values/render-values.ts";
import { secretWords, withoutWords } from "./secret-words.ts";
import { type SourceObject, valuesIn } from "./values-source.ts";
import { createWatchedObjects, type WatchedObject } from "./watched-objects.ts";

export interface Gathered {
  readonly copies: readonly Copy[];
  /**
   * By digest, what the values are rendered from, with all else that reaches Helm; absent where there is nothing to
   * render. A release that has it is as wanted, and that is known without Helm, after a restart too, and whatever
   * templates give that is another each time, such as a password.
   */
  readonly origin?: string;
  /** The release digest. Nothing is rendered for it where `installed` came of the same. Throws VALUES_TEMPLATE_FAILED. */
  digest(installed: Pick<ReleaseRecord, "origin" | "digest"> | undefined): Promise<string>;
  /** What Helm is given. Throws VALUES_TEMPLATE_FAILED. */
  final(): Promise<FinalInputs>;
  /** Helm's words, without those of Secrets. */
  hide(text: string): string;
}

export interface FinalInputs {
  /** Absent: Helm is given none. */
  readonly values?: Values;
  readonly digest: string;
}

export interface GatherOptions {
  readonly deployment: string;
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

export interface Inputs {
  /**
   * Throws SUPPLY_AWAITED and SUPPLY_MISSING for what the hub has not sent or does not have, VALUES_SOURCE_MISSING and
   * VALUES_SOURCE_INVALID. What it took is followed from then on.
   */
  gather(content: DeploymentContent, options: GatherOptions): Promise<Gathered>;
  /** It is gone, and follows nothing any more. */
  forget(deployment: string): void;
  /** Told the deployments of which a ConfigMap or Secret with values has changed. */
  onChange(listener: (deployments: ReadonlySet<string>) => void): void;
  /** Ends what is watched. */
  end(): Promise<void>;
}

export interface InputsDeps extends SuppliedDeps {
  /** The agent's own, which watches; what is read is read as the deployment's account. */
  readonly rest: KubeRest;
  readonly renderValues: RenderValues;
  readonly clock: Clock;
  readonly log: Log;
}

interface Rendered {
  readonly origin: string;
  readonly final: FinalInputs;
}

const copied: SupplyUse = { field: "downstreamResources", what: "which is to be copied" };

export function createInputs(deps: InputsDeps): Inputs {
  const { facts, renderValues } = deps;
  const listeners: ((deployments: ReadonlySet<string>) => void)[] = [];
  const watched = createWatchedObjects({
    ...deps,
    onChange(followers) {
      for (const listener of listeners) listener(followers);
    },
  });
  /** The last of each deployment, so that a pass that finds nothing changed starts no Helm. */
  const rendered = new Map<string, Rendered>();

  /** What the templates are rendered for; undefined where there are none. */
  function clusterFor(content: DeploymentContent): ClusterFacts | undefined {
    if (!hasTemplates(content)) return undefined;
    const known = facts.get();
    if (known !== undefined) return known;
    throw new AppError(
      agentErrors.SUPPLY_AWAITED,
      "waiting for what the hub says that this cluster is, which the templates in its values may ask for",
    );
  }

  async function fromSource(
    source: ValuesSource,
    content: DeploymentContent,
    copies: readonly Copy[],
    { actor, signal }: GatherOptions,
  ): Promise<Values> {
    // What is to be copied need not have been: it is what the hub supplied.
    const copy = copies.find(({ ref }) => ref.kind === source.kind && ref.name === source.name);
    const namespace = source.namespace ?? content.namespace;
    const where = `${source.kind} ${copy === undefined ? namespace : content.namespace}/${source.name}`;
    const object = copy?.object ?? (await read(source, namespace, actor, signal));
    if (object !== undefined) return valuesIn(source, object, where);
    throw new AppError(
      agentErrors.VALUES_SOURCE_MISSING,
      `${where}, which valuesFrom names, is not there; it goes on as soon as it is`,
    );
  }

  async function read(
    { kind, name }: ValuesSource,
    namespace: string,
    { rest, title }: Actor,
    signal: AbortSignal,
  ): Promise<SourceObject | undefined> {
    const resource: Resource<KubeObject & SourceObject> = kind === "Secret" ? secrets : configMaps;
    try {
      return await rest.get(resource, { namespace, name }, { signal });
    } catch (thrown) {
      // Anything else says nothing of whether it is there.
      if (!isForbidden(thrown)) throw thrown;
      throw new AppError(
        agentErrors.VALUES_SOURCE_MISSING,
        `read the ${kind} ${namespace}/${name} for valuesFrom as ${title}: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
  }

  return {
    async gather(content, options) {
      const { deployment, signal } = options;
      const copies = (content.copies ?? []).map((ref) => ({
        ref,
        object: supplied(ref, copied, deps),
      }));
      const cluster = clusterFor(content);
      const named = content.valuesFrom ?? [];
      await watched.follow(deployment, watchedOf(named, content));
      const sources: Values[] = [];
      for (const source of named) sources.push(await fromSource(source, content, copies, options));
      const origin =
        cluster &&
        releaseDigest(content, { values: unrendered(content, cluster, sources), copies });

      if (origin === undefined) rendered.delete(deployment);

      async function make(): Promise<FinalInputs> {
        const own =
          cluster === undefined ? content.values : await renderValues(content, cluster, { signal });
        const values = sources.reduce<Values | undefined>(
          (under, over) => mergeValues(under ?? {}, over),
          own,
        );
        const digest = releaseDigest(content, { values, copies });
        return { ...(values !== undefined && { values }), digest };
      }

      async function final(): Promise<FinalInputs> {
        if (origin === undefined) return await make();
        const last = rendered.get(deployment);
        if (last?.origin === origin) return last.final;
        const fresh = { origin, final: await make() };
        rendered.set(deployment, fresh);
        return fresh.final;
      }

      return {
        copies,
        ...(origin !== undefined && { origin }),
        async digest(installed) {
          const isOfTheSame = origin !== undefined && installed?.origin === origin;
          return isOfTheSame && installed.digest !== undefined
            ? installed.digest
            : (await final()).digest;
        },
        final,
        hide(text) {
          const isSecret = (_: Values, at: number): boolean => named[at]?.kind === "Secret";
          return withoutWords(text, secretWords(sources.filter(isSecret)));
        },
      };
    },
    forget(deployment) {
      rendered.delete(deployment);
      void watched.follow(deployment, []);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    end: () => watched.end(),
  };
}

/** In place of values that are not rendered yet. */
function unrendered(
  { values, templateValues, valuesAreTemplates }: DeploymentContent,
  cluster: ClusterFacts,
  sources: readonly Values[],
): Values {
  return { values, templateValues, valuesAreTemplates, cluster, sources };
}

/** What is read of the cluster itself; what is copied comes from the hub, whatever namespace is named. */
function watchedOf(
  sources: readonly ValuesSource[],
  { namespace, copies = [] }: DeploymentContent,
): readonly WatchedObject[] {
  return sources
    .filter(({ kind, name }) => !copies.some((copy) => copy.kind === kind && copy.name === name))
    .map((source) => ({
      kind: source.kind,
      namespace: source.namespace ?? namespace,
      name: source.name,
    }));
}
