import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Values } from "@flotilla/shared/values";
import type { ReadRecords } from "../read-records.ts";
import { performRecordTask } from "../record-task.ts";
import type { StoredRelease } from "../stored-release.ts";

/** In this process, however long they are. */
export const readRecordsHere: ReadRecords = {
  // Each task has one kind of result.
  printed: async (json, what) =>
    (await performRecordTask({ kind: "printed release", json, what })) as StoredRelease,
  stored: async (stored, what) =>
    (await performRecordTask({ kind: "stored release", stored, what })) as StoredRelease,
  async chartValues(stored, what) {
    const json = String(await performRecordTask({ kind: "chart values", stored, what }));
    return JSON.parse(json) as Values;
  },
  changed: async (stored, what, change) =>
    String(await performRecordTask({ kind: "changed release", stored, what, change })),
  chartCrds: async (manifest) =>
    (await performRecordTask({ kind: "manifest", use: "chartCrds", manifest })) as never,
  async wholeObjects({ manifest }) {
    const found = await performRecordTask({ kind: "manifest", use: "whole", manifest });
    return (found as readonly string[]).map((json) => JSON.parse(json) as KubeObject);
  },
  withKindChanges: async ({ manifest }, changes) =>
    String(await performRecordTask({ kind: "changed kinds", manifest, changes })),
  manifest: async ({ manifest }, use) =>
    (await performRecordTask({ kind: "manifest", use, manifest })) as never,
};
