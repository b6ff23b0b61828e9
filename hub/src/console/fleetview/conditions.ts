import type { FleetEvent } from "@flotilla/shared/dashboard";
import type { Event, KubeObject } from "@flotilla/shared/kube/objects";
import { stringify } from "yaml";
import { eventOf, newestOf } from "./recent-events.ts";

const maxEvents = 50;

/** The newest Events about one object, newest first. */
export function eventsAbout(
  events: readonly Event[],
  {
    kind,
    namespace,
    name,
  }: { readonly kind: string; readonly namespace: string; readonly name: string },
): FleetEvent[] {
  const own = events.flatMap((event) => {
    const shown = eventOf(event);
    const isOwn = shown?.kind === kind && shown.namespace === namespace && shown.name === name;
    return isOwn ? [shown] : [];
  });
  return [...newestOf(own, maxEvents)];
}

/** The object as its author wrote it: without status and what the API server adds. */
export function yamlOf(object: KubeObject): string {
  const { status: _, metadata, ...rest }: KubeObject & { readonly status?: unknown } = object;
  const { name, namespace, labels, annotations } = metadata;
  const shown = {
    name,
    namespace,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  return stringify({ ...rest, metadata: shown });
}
