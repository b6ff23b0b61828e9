/** The summary of the fleet, as the overview shows it: what a client keeps, and updates by the changes that follow. */
import * as z from "zod";
import { appKinds } from "../fleet/apps/index.ts";
import { appRolloutSchema } from "./rollouts.ts";
import { appStates, clusterStates, releaseStates, sourceStates } from "./states/index.ts";

const text = (description: string) => z.string().meta({ description });
const optionalText = (description: string) => z.string().meta({ description }).optional();
const count = (description: string) => z.int().meta({ description });
const labels = z.record(z.string(), z.string());

export const sourceKinds = [
  "HelmRepository",
  "OCIRepository",
  "GitRepository",
  "Bucket",
  "HelmChart",
] as const;

/** What a chart is deployed by: an object of a front end, or a Bundle that was applied without one. */
export const appRefSchema = z.object({
  kind: z.enum(appKinds),
  namespace: z.string(),
  name: z.string(),
});

export const clusterRefSchema = z.object({ namespace: z.string(), name: z.string() });

export const sourceRefSchema = z.object({
  kind: z.enum(sourceKinds),
  namespace: z.string(),
  name: z.string(),
});

/** Why something is as it is, in the words of its conditions. */
const reasonFields = {
  reason: optionalText("One word for programs."),
  message: optionalText("What failed, on what, why, and what happens next."),
  since: optionalText("When that state began, RFC 3339."),
};

/** What the source of an app, or a source itself, is read with. */
const accessFields = {
  code: optionalText("The code of the error of its source, as in docs/errors.md."),
  secret: optionalText("The Secret of its namespace with the credentials of its source."),
  source: sourceRefSchema
    .optional()
    .meta({ description: "The source that its chart is from, where that is an object." }),
};

/** One cluster of an app that is not as it should be. */
const exampleSchema = z.object({
  cluster: text("As `NAMESPACE/NAME`."),
  state: z.enum(releaseStates),
  message: optionalText("Why, its beginning."),
});

const valuesRefSchema = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  namespace: z.string(),
  name: z.string(),
});

export const appSchema = appRefSchema
  .extend({
    state: z.enum(appStates),
    ...reasonFields,
    ...accessFields,
    waitsFor: z
      .array(
        appRefSchema.extend({
          hidden: z
            .boolean()
            .optional()
            .meta({ description: "Whether the user may not see it, so that it may exist." }),
        }),
      )
      .optional()
      .meta({ description: "The apps that its `dependsOn` names." }),
    unmatched: z
      .array(z.string())
      .optional()
      .meta({ description: "The selectors of its `dependsOn` that no Bundle matches." }),
    values: z.array(valuesRefSchema).optional().meta({
      description:
        "Where a cluster cannot make its values: the objects that `valuesFrom` names, of the hub for a HelmRelease, else of the cluster.",
    }),
    examples: z
      .array(exampleSchema)
      .optional()
      .meta({ description: "Where `state` is a state of releases: the first clusters in it." }),
    suspended: z.boolean(),
    labels,
    chart: text("The chart, as its source names it."),
    host: optionalText("The host of its repository, where it names one itself."),
    version: optionalText("The version that is deployed to all of its clusters."),
    ready: count("In how many clusters it is ready."),
    desired: count("How many clusters it is deployed to."),
    offline: count("How many of them are offline."),
    rollout: appRolloutSchema.optional().meta({
      description:
        "The staged rollout that is not completed; absent: none, or the user may not see it.",
    }),
    isStaged: z.boolean().optional().meta({
      description: "Whether it has staged rollouts that the user may see.",
    }),
    isChanging: z
      .boolean()
      .meta({ description: "Whether a new version or spec is being deployed." }),
  })
  .meta({ title: "App" });

export const clusterSchema = clusterRefSchema
  .extend({
    state: z.enum(clusterStates),
    ...reasonFields,
    connected: z.boolean(),
    labels,
    agentVersion: optionalText("The version of its agent."),
    ready: count("How many of its releases are ready."),
    desired: count("How many releases it has."),
  })
  .meta({ title: "Cluster" });

export const sourceSchema = z
  .object({
    kind: z.enum(sourceKinds),
    namespace: z.string(),
    name: z.string(),
    state: z.enum(sourceStates),
    ...reasonFields,
    ...accessFields,
    suspended: z.boolean(),
    labels,
    url: text("Its address."),
    revision: optionalText("The revision that was found last."),
  })
  .meta({ title: "Source" });

export const eventSchema = z
  .object({
    id: text("Its UID; the same event has a new count with each repetition."),
    time: text("When it was reported last, RFC 3339."),
    type: z.enum(["Normal", "Warning"]),
    reason: z.string(),
    message: z.string(),
    count: z.int(),
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
  })
  .meta({ title: "Event" });

/** The releases of one app, by cluster. */
export const rowSchema = appRefSchema
  .extend({
    states: text("A character for each cluster of `columns`: its state."),
    versions: z.array(z.string()).meta({ description: "The versions that are installed." }),
    versionOf: text(
      "A character for each cluster of `columns`: 48 and more for the first of `versions` and those that follow, `.` for none.",
    ),
  })
  .meta({ title: "Row" });

export const fleetSchema = z
  .object({
    position: text("The last change that it has; changes that follow continue from there."),
    now: text("The time of the hub, RFC 3339."),
    clusters: z.array(clusterSchema),
    apps: z.array(appSchema),
    sources: z.array(sourceSchema),
    columns: z
      .array(z.string())
      .meta({ description: "The clusters of the rows, as `NAMESPACE/NAME`, sorted." }),
    rows: z.array(rowSchema),
    events: z.array(eventSchema).meta({ description: "The newest, newest first." }),
  })
  .meta({ title: "Fleet" });

export type AppRef = Readonly<z.infer<typeof appRefSchema>>;
export type ClusterRef = Readonly<z.infer<typeof clusterRefSchema>>;
export type SourceKind = (typeof sourceKinds)[number];
export type App = Readonly<z.infer<typeof appSchema>>;
export type FleetCluster = Readonly<z.infer<typeof clusterSchema>>;
export type FleetSource = Readonly<z.infer<typeof sourceSchema>>;
export type FleetEvent = Readonly<z.infer<typeof eventSchema>>;
export type FleetRow = Readonly<z.infer<typeof rowSchema>>;
export type Fleet = Readonly<z.infer<typeof fleetSchema>>;
