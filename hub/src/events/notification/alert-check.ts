/** What is wrong with an Alert although the API server took it: it selects nothing, or cannot send. */
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { type EventSource, maxEventSources, type Provider } from "@flotilla/shared/flux";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { notifiedKinds } from "./kinds.ts";
import { isForbidden } from "./match.ts";
import { hasTooManySources, isWrittenProvider, type WrittenAlert } from "./objects.ts";
import { providerProblem } from "./provider-settings.ts";

/** Only its metadata is read. */
export type CheckedObject = Pick<KubeObject, "metadata">;

/** All objects of a kind. */
export interface CheckedObjects {
  /** The objects of a namespace and a name; `*`: of all. */
  find(namespace: string, name: string): readonly CheckedObject[];
}

export interface AlertCheckInput {
  readonly alert: WrittenAlert;
  readonly provider: Provider | undefined;
  readonly crossNamespace: boolean;
  /** Undefined: this hub does not watch the kind. */
  readonly objectsOf: (kind: string) => CheckedObjects | undefined;
}

const mostNamed = 10;

/** Sentences, the most important first. Yields to the event loop between sources and objects. */
export async function alertProblems(input: AlertCheckInput): Promise<readonly string[]> {
  const { alert, provider } = input;
  const { spec } = alert;
  if (spec.suspend === true) return [];
  const providerText = !isWrittenProvider(provider)
    ? `the Provider ${spec.providerRef.name} does not exist in this namespace`
    : provider.spec.suspend === true
      ? `the Provider ${spec.providerRef.name} is suspended`
      : providerProblem(provider);
  const selection = await selectionProblem(input);
  return [providerText, selection].filter((text) => text !== undefined);
}

async function selectionProblem(input: AlertCheckInput): Promise<string | undefined> {
  const { eventSources } = input.alert.spec;
  if (eventSources.length === 0) return "selects no object: it has no eventSources";
  if (hasTooManySources(input.alert))
    return `selects no object: eventSources has ${eventSources.length} entries; the limit is ${maxEventSources}: select objects by \`*\` and their labels, or write several Alerts`;
  const slices = createTimeSlices();
  const problems: string[] = [];
  for (const source of eventSources) {
    const problem = await sourceProblem(source, input, slices);
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length === 0) return undefined;
  const isNothing = problems.length === eventSources.length;
  const more = problems.length - mostNamed;
  const named = [...problems.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])];
  return `${isNothing ? "selects no object" : "some sources select no object"}: ${named.join("; ")}`;
}

async function sourceProblem(
  source: EventSource,
  { alert, crossNamespace, objectsOf }: AlertCheckInput,
  slices: TimeSlices,
): Promise<string | undefined> {
  const { namespace: own = "" } = alert.metadata;
  const namespace = source.namespace || own;
  const what = `${source.kind} ${namespace}/${source.name}`;
  if (!notifiedKinds.includes(source.kind))
    return `${what}: this hub has no controller of the kind ${source.kind}`;
  if (isForbidden(source, own, { crossNamespace }))
    return `${what}: references to other namespaces are not allowed (see flux.crossNamespaceReferences of the hub's chart)`;
  const objects = objectsOf(source.kind);
  if (objects === undefined) return `${what}: the kind ${source.kind} is not installed`;
  const wanted = Object.entries(source.matchLabels ?? {});
  for (const { metadata } of objects.find(namespace, source.name)) {
    if (slices.isOver) await slices.pause();
    if (wanted.every(([key, value]) => metadata.labels?.[key] === value)) return undefined;
  }
  return `${what}: there is no such object${wanted.length > 0 ? " with its matchLabels" : ""}`;
}
