/** The revisions of a release as a table, as `helm history` prints them. Pure. */
import { oneLine } from "@flotilla/shared/text";
import * as z from "zod";
import { formatTable } from "./format-table.ts";

const entrySchema = z.looseObject({
  revision: z.number(),
  status: z.string(),
  chartName: z.string(),
  chartVersion: z.string(),
  appVersion: z.string(),
  deployedAt: z.string().optional(),
  /** Why the agent made it; absent: somebody else did, or an agent before 0.4.0. */
  reasons: z.array(z.string()).optional(),
  description: z.string(),
  tests: z.array(z.looseObject({ name: z.string(), phase: z.string() })),
});

/** `lines`: JSON, one revision each. */
export function historyTable(lines: string): string {
  const entries = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => entrySchema.parse(JSON.parse(line)));
  if (entries.length === 0) return "Helm has stored no revision\n";
  return formatTable(
    ["REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "REASON", "TESTS", "DESCRIPTION"],
    entries.map(({ revision, deployedAt, status, chartName, ...entry }) => [
      String(revision),
      (deployedAt ?? "").replace(/\.\d+/, ""),
      status,
      `${chartName}-${entry.chartVersion}`,
      entry.appVersion,
      (entry.reasons ?? []).join(", "),
      entry.tests.map(({ name, phase }) => `${name} ${phase}`).join(", "),
      oneLine(entry.description),
    ]),
  );
}
