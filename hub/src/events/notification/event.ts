/** The events of notifications, in the shape of Flux's, and which of them are the same. Pure. */
import { createHash } from "node:crypto";
import type { EventNote } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { formatTime } from "@flotilla/shared/time";

export type EventSeverity = "info" | "error";

export interface InvolvedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** What the providers generic and generic-hmac send as it is. */
export interface FluxEvent {
  readonly involvedObject: InvolvedObject;
  readonly severity: EventSeverity;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly message: string;
  readonly reason: string;
  /** Without prefixes. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly reportingController: string;
  readonly reportingInstance: string;
}

/** An event, and what decides which Alerts it is for. */
export interface ObservedEvent {
  /** It has the controller's metadata. */
  readonly event: FluxEvent;
  /** The labels of the object. */
  readonly labels: Readonly<Record<string, string>>;
  /** From the annotations of the object. */
  readonly annotated: Readonly<Record<string, string>>;
  /** Distinguishes events with the same text; never sent. */
  readonly token?: string;
}

export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

const annotationPrefix = "event.toolkit.fluxcd.io/";

/** Flux's limit. */
const maxMessageChars = 39_000;

/** Keys that a controller keeps for itself. */
const unsentKeys: ReadonlySet<string> = new Set(["checksum", "digest", "token"]);

/** The event of a note on an object; `regarding` needs its apiVersion and kind. */
export function toObservedEvent(
  regarding: KubeObject,
  note: EventNote,
  reporter: Reporter,
  nowMs: number,
): ObservedEvent {
  const { apiVersion = "", kind = "", metadata } = regarding;
  const { name, namespace = "", uid = "", labels = {}, annotations = {} } = metadata;
  const [group = ""] = apiVersion.split("/");
  const own = withoutPrefix(note.metadata ?? {}, `${group}/`);
  const sent = Object.fromEntries(Object.entries(own).filter(([key]) => !unsentKeys.has(key)));
  const token = own["token"];
  return {
    event: {
      involvedObject: { apiVersion, kind, name, namespace, uid },
      severity: note.type === "Warning" ? "error" : "info",
      timestamp: formatTime(nowMs),
      message: note.note.slice(0, maxMessageChars),
      reason: note.reason,
      ...(Object.keys(sent).length > 0 && { metadata: sent }),
      reportingController: reporter.controller,
      reportingInstance: reporter.instance,
    },
    labels,
    annotated: withoutPrefix(annotations, annotationPrefix),
    ...(token !== undefined && { token }),
  };
}

/** As in Flux, neither the severity nor the reason distinguishes two events. */
export function eventKey({ event, token }: ObservedEvent): string {
  const { involvedObject, message, metadata = {} } = event;
  const { originRevision, revision } = metadata;
  const parts = [
    "event",
    `name=${involvedObject.name}`,
    `namespace=${involvedObject.namespace}`,
    `kind=${involvedObject.kind}`,
    `message=${message}`,
    ...(originRevision === undefined ? [] : [`originRevision=${originRevision}`]),
    ...(revision === undefined ? [] : [`revision=${revision}`]),
    ...(token === undefined ? [] : [`token=${token}`]),
  ];
  return createHash("sha256").update(parts.join("/")).digest("hex");
}

/** `helmop/web.fleet-default`: how messages call the object of an event. */
export function objectName({ involvedObject }: FluxEvent): string {
  const { kind, name, namespace } = involvedObject;
  return `${kind.toLowerCase()}/${name}.${namespace}`;
}

/** The words of a reason: `upgrade failed`. */
export function reasonWords(reason: string): string {
  return reason
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase();
}

function withoutPrefix(
  entries: Readonly<Record<string, string>>,
  prefix: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([key, value]) =>
      key.startsWith(prefix) && key.length > prefix.length
        ? [[key.slice(prefix.length), value] as const]
        : [],
    ),
  );
}
