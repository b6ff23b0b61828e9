/** The changes of the fleet that the event stream delivers. */
import * as z from "zod";
import {
  appRefSchema,
  appSchema,
  clusterRefSchema,
  clusterSchema,
  eventSchema,
  sourceRefSchema,
  sourceSchema,
} from "./fleet.ts";
import { releaseStates } from "./states/index.ts";

const removedSchema = z.discriminatedUnion("of", [
  appRefSchema.extend({ of: z.literal("app") }),
  clusterRefSchema.extend({ of: z.literal("cluster") }),
  sourceRefSchema.extend({ of: z.literal("source") }),
]);

const changeSchema = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("app"), app: appSchema }),
    z.object({ type: z.literal("cluster"), cluster: clusterSchema }),
    z.object({ type: z.literal("source"), source: sourceSchema }),
    z.object({
      type: z.literal("release"),
      app: appRefSchema,
      cluster: z.string().meta({ description: "As `NAMESPACE/NAME`." }),
      state: z
        .enum(releaseStates)
        .nullable()
        .meta({ description: "Null: the cluster has no release of it any more." }),
      version: z.string().meta({ description: "The installed version; empty: none." }),
    }),
    z.object({ type: z.literal("event"), event: eventSchema }),
    z.object({
      type: z.literal("schedules"),
      namespace: z.string().meta({ description: "Schedules of this namespace have changed." }),
    }),
    z.object({ type: z.literal("removed"), removed: removedSchema }),
  ])
  .meta({ title: "Change" });

/** The data of an event `changes`. */
export const changesSchema = z.array(changeSchema);

export type Change = Readonly<z.infer<typeof changeSchema>>;

/** Event types of the stream: changes, or that the fleet has to be read again. */
export const streamEvents = { changes: "changes", reset: "reset" } as const;
/** The stream sends something at least this often, so that a client notices a broken connection. */
export const heartbeatMs = 5_000;
