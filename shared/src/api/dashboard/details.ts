/** One app, cluster, release or source with all that the hub has about it. */
import * as z from "zod";
import { appKinds } from "../fleet/apps/index.ts";
import {
  appRefSchema,
  appSchema,
  clusterRefSchema,
  clusterSchema,
  eventSchema,
  sourceKinds,
  sourceSchema,
} from "./fleet.ts";
import { stagedReleaseSchema, windowSchema } from "./rollouts.ts";
import { releaseStates } from "./states/index.ts";

const optional = (description: string) => z.string().meta({ description }).optional();

export const actionNames = [
  "poll",
  "reconcile",
  "correct-drift",
  "retry",
  "force",
  "suspend",
  "resume",
] as const;

export const actionSchema = z
  .object({
    action: z.enum(actionNames),
    allowed: z.boolean(),
    reason: optional("Why it is not allowed."),
    command: z.string().meta({ description: "The command that does the same." }),
  })
  .meta({ title: "Action" });

const conditionSchema = z
  .object({
    type: z.string(),
    status: z.enum(["True", "False", "Unknown"]),
    reason: optional("One word for programs."),
    message: optional("For people."),
    since: optional("When its status changed last, RFC 3339."),
  })
  .meta({ title: "DashboardCondition" });

const objectNameFields = {
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
};

/** An object of a release that is not as it should be. */
const objectSchema = z.object({
  ...objectNameFields,
  state: z.string().meta({ description: "Such as `in-progress`, `failed`, `missing`." }),
  message: optional("Why."),
});

/** An object that others have changed. */
const driftSchema = z.object({
  ...objectNameFields,
  fields: z.array(z.string()).meta({ description: "The first changed fields, as JSON pointers." }),
  manager: optional("Who changed them, where that is known."),
  time: optional("When, RFC 3339."),
  result: z
    .string()
    .meta({ description: "`Missing`, or as in `driftHistory` of a BundleDeployment." }),
});

const revisionSchema = z.object({
  revision: z.int(),
  status: z.string(),
  action: optional("What created it: `install`, `upgrade` or `rollback`."),
  chartVersion: z.string(),
  deployedAt: optional("RFC 3339."),
});

export const actionRequestSchema = z
  .object({
    action: z.enum(actionNames),
    kind: z.enum([...appKinds, ...sourceKinds]),
    namespace: z.string(),
    name: z.string(),
  })
  .meta({ title: "ActionRequest" });

const pollingSchema = z.object({
  interval: optional("As in `5m`; absent: it is not polled."),
  last: optional("When the source was read last, RFC 3339."),
  next: optional("When it is read next, RFC 3339."),
  failures: z.int(),
  error: optional("Why the last attempt failed."),
});

const objectFields = {
  createdAt: optional("RFC 3339."),
  changedBy: optional("The field manager that changed the spec last."),
  changedAt: optional("When it did, RFC 3339."),
  conditions: z.array(conditionSchema),
  actions: z.array(actionSchema),
  yaml: z.string().meta({ description: "The object as it was applied, without its status." }),
};

const chartSchema = z.object({
  repo: z.string(),
  chart: z.string(),
  constraint: z.string(),
  version: optional("The version that it resolved to."),
  url: optional("The address of the archive."),
  digest: optional("The digest of the archive."),
  note: optional("A problem of the resolved chart."),
});

export const appDetailSchema = appSchema
  .extend({
    ...objectFields,
    charts: z.array(chartSchema).meta({
      description:
        "The chart and, where targets name others, those; each with what it resolved to.",
    }),
    polling: pollingSchema,
    lastRequest: z.array(z.string()).optional().meta({
      description:
        "What the last request to reconcile it has come to, a line for all clusters with the same answer.",
    }),
    events: z.array(eventSchema),
  })
  .meta({ title: "AppDetail" });

/** One cluster of the app's workspace: whether the app is deployed there, and why. */
export const targetSchema = clusterRefSchema
  .extend({
    isTarget: z.boolean(),
    why: z.string().meta({ description: "Which target matches it, or why none does." }),
    state: z.enum(releaseStates).optional(),
    version: optional("The installed version."),
    message: optional("Why it is not ready."),
    since: optional("When that state began, RFC 3339."),
  })
  .meta({ title: "Target" });

export const targetsSchema = z.object({ targets: z.array(targetSchema) });

/** A version that agents have installed, as the revisions of Helm in all clusters have it. */
const versionRecordSchema = z
  .object({
    version: z.string(),
    firstAt: z.string().meta({ description: "When the first cluster got it, RFC 3339." }),
    lastAt: z.string().meta({ description: "When the last cluster got it, RFC 3339." }),
    clusters: z.int().meta({ description: "How many clusters have had it." }),
    current: z.int().meta({ description: "How many clusters run it now." }),
    failed: z.int().meta({ description: "In how many clusters its last revision failed." }),
  })
  .meta({ title: "VersionRecord" });

export const historySchema = z.object({ versions: z.array(versionRecordSchema) });

const releaseFields = {
  app: appRefSchema,
  bundle: z.object({ namespace: z.string(), name: z.string() }),
  state: z.enum(releaseStates),
  sync: z.enum(["InSync", "Waiting", "Modified", "Failed"]),
  health: z.enum(["Healthy", "Progressing", "Degraded", "Unknown"]),
  suspended: z.boolean(),
  uninstalling: z.boolean().meta({
    description:
      "Whether it is being deleted, and waits for the agent; its app and `bundle` may not exist any more.",
  }),
  message: optional("Why it is not ready, or what its uninstall waits for."),
  since: optional("When that state, or the deletion, began, RFC 3339."),
  release: optional("The Helm release, `namespace/name:revision`."),
  version: optional("The installed version."),
  desiredVersion: optional("The version that is to be installed, where it is another one."),
  rollout: stagedReleaseSchema.optional().meta({
    description: "The newest staged rollout of its app, where the user may see it.",
  }),
};

export const clusterReleaseSchema = z.object(releaseFields).meta({ title: "ClusterRelease" });

export const clusterDetailSchema = clusterSchema
  .extend({
    ...objectFields,
    agent: z.object({
      connected: z.boolean(),
      version: optional("Its version."),
      skew: optional("What is to be done about its version."),
      since: optional("Since when it is connected or offline, RFC 3339."),
      namespace: optional("Its namespace in the cluster."),
      replica: optional("The replica of the hub that it is connected to."),
      certificateExpiresAt: optional("When its certificate ends, RFC 3339."),
      revokedAt: optional("When the cluster was revoked, RFC 3339."),
    }),
    releases: z.array(clusterReleaseSchema),
    hiddenReleases: z.int().meta({ description: "Releases that the user may not see." }),
    orphans: z.array(z.string()),
    awaited: z
      .object({
        count: z.int(),
        first: z.array(z.object({ app: appRefSchema, rollout: stagedReleaseSchema })),
      })
      .meta({
        description:
          "Apps whose staged rollout has not reached it yet, and that it has nothing of.",
      }),
    windows: z.array(windowSchema).meta({
      description: "The first ten Schedules that are for it, where the user may list them.",
    }),
    events: z.array(eventSchema),
  })
  .meta({ title: "ClusterDetail" });

export const releaseDetailSchema = z
  .object({
    ...releaseFields,
    cluster: clusterRefSchema,
    connected: z.boolean(),
    conditions: z.array(conditionSchema),
    chartDigest: optional("The digest of the archive of the installed chart."),
    lastRequest: optional("What the last request to reconcile the release has come to."),
    notReady: z.array(objectSchema),
    modified: z.array(driftSchema),
    history: z.array(revisionSchema),
    driftHistory: z.array(driftSchema),
    requests: z
      .array(z.enum(["resources", "events", "values", "log", "diff", "history"]))
      .meta({ description: "What the user may request from the agent of the cluster." }),
    actions: z.array(actionSchema),
    events: z.array(eventSchema),
  })
  .meta({ title: "ReleaseDetail" });

export const sourceDetailSchema = sourceSchema
  .extend({
    ...objectFields,
    digest: optional("The digest of the revision."),
    polling: pollingSchema,
    usedBy: z.array(appRefSchema),
    events: z.array(eventSchema),
  })
  .meta({ title: "SourceDetail" });

export type ActionName = (typeof actionNames)[number];
export type ActionRequest = Readonly<z.infer<typeof actionRequestSchema>>;
export type Action = Readonly<z.infer<typeof actionSchema>>;
export type AppDetail = Readonly<z.infer<typeof appDetailSchema>>;
export type VersionRecord = Readonly<z.infer<typeof versionRecordSchema>>;
export type Target = Readonly<z.infer<typeof targetSchema>>;
export type ClusterRelease = Readonly<z.infer<typeof clusterReleaseSchema>>;
export type ClusterDetail = Readonly<z.infer<typeof clusterDetailSchema>>;
export type ReleaseDetail = Readonly<z.infer<typeof releaseDetailSchema>>;
export type SourceDetail = Readonly<z.infer<typeof sourceDetailSchema>>;
