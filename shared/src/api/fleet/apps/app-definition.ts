/** What a kind of app is to the programs that treat all kinds alike. */
import type { KubeObject, Resource } from "../../../kubernetes/objects/index.ts";

/**
 * A request that users make of an app. `poll`: read the source of its chart, and reconcile only if something has changed; the others
 * reconcile its releases, and do what the name says before.
 */
export type AppRequest = "poll" | "reconcile" | "correct-drift" | "retry" | "force";

/** Where the differences between two kinds are. What is not here is the same for all of them. */
export interface AppDefinition {
  readonly resource: Resource<KubeObject>;
  /** As its CRD has them. */
  readonly shortNames: readonly string[];
  /** The finalizer of the hub on its objects. */
  readonly finalizer: string;
  /** Whether the hub leaves its objects to Flux's controllers where these run. */
  readonly yieldsToFlux: boolean;

  /** The label that names an app on the Bundle that was made for it, and on its BundleDeployments; absent: it is the Bundle. */
  readonly label?: string;
  /** The name of its Bundle: the same, or one with the kind before it (`bundleNameOf`). */
  readonly bundleName: "same" | "prefixed";
  /** Whether the hub signs in the Bundle whom it was made for; it counts only while that exists. */
  readonly hasOrigin: boolean;
  /** Labels that Flux sets on the objects of its releases, and that therefore are not drift. */
  readonly originLabels: readonly string[];
  /** Where the objects are that its `valuesFrom` names. */
  readonly valuesFrom: "hub" | "cluster";
  /** The name of the HelmChart that the hub makes for an app in the namespace of its source; absent: it makes none. */
  readonly chartName?: (app: { readonly namespace: string; readonly name: string }) => string;

  /** The requests that have an effect, those that are used most first. */
  readonly requests: readonly AppRequest[];
  /** Whether Receivers have to name its apiVersion: Flux knows the version of its sources alone. */
  readonly receiversNeedApiVersion: boolean;
  /** The condition whose reason says why Helm is not run for it. There is an event when it changes. */
  readonly blockedBy: "Accepted" | "Ready";
  /** Whether a success, as a failure, sets the status of the commit that its chart is from. */
  readonly setsCommitStatus: boolean;
}
