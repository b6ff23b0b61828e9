/** References to objects, for Alerts and Receivers. */
import * as z from "zod";
import { type AppKind, appKinds } from "../fleet/apps/index.ts";
import { described, fields, plainText, type Typed } from "../fleet/index.ts";
import { string, stringMap } from "./field.ts";

/** The kinds that Flux's schema has; what others mean is decided by the controllers. */
const fluxKinds = [
  "Bucket",
  "GitRepository",
  "Kustomization",
  "HelmRelease",
  "HelmChart",
  "HelmRepository",
  "ImageRepository",
  "ImagePolicy",
  "ImageUpdateAutomation",
  "OCIRepository",
  "ArtifactGenerator",
  "ExternalArtifact",
] as const;

type FluxKind = (typeof fluxKinds)[number];

/** The kinds of app that Flux's schema does not have. */
const otherApps = appKinds.filter(
  (kind): kind is Exclude<AppKind, FluxKind> => !fluxKinds.some((each) => each === kind),
);

/** What has events, and which of these a reconciliation can be requested for. */
const eventKinds = [...fluxKinds, ...otherApps, "Cluster"] as const;
const requestKinds = [...fluxKinds, ...otherApps] as const;

const name = string({ min: 1, max: 253 });

/** The fields of a reference to objects of these kinds. */
function referenceFields<const K extends readonly string[]>(kinds: K) {
  return {
    apiVersion: plainText("The objects' apiVersion."),
    kind: described(z.enum(kinds), "The objects' kind."),
    name: described(name, "The object's name, or `*` for all."),
    namespace: described(name.optional(), "The objects' namespace.", {
      "x-default-text": "the namespace of this object",
    }),
    matchLabels: stringMap("Labels that the objects must have."),
  } as const;
}

export const eventSourceSchema = fields(referenceFields(eventKinds), "EventSource");

/** Which objects an Alert is about. */
export type EventSource = Typed<typeof eventSourceSchema>;

export const receiverResourceSchema = fields(
  {
    ...referenceFields(requestKinds),
    filter: plainText(
      "A CEL expression that is true for the requests that are for these objects, with the variables `req` and `res`.",
    ),
  },
  "ReceiverResource",
);

/** Which objects a Receiver is for. */
export type ReceiverResource = Typed<typeof receiverResourceSchema>;
