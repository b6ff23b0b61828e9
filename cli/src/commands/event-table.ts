/** Events as a table, as `kubectl get events` prints them. Pure. */
import { oneLine } from "@flotilla/shared/text";
import * as z from "zod";
import { formatTable } from "./format-table.ts";

const entrySchema = z.looseObject({
  time: z.string(),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
  object: z.looseObject({ kind: z.string(), namespace: z.string(), name: z.string() }),
});

/** `lines`: JSON, one event each. */
export function eventTable(lines: string): string {
  const entries = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => entrySchema.parse(JSON.parse(line)));
  if (entries.length === 0) return "no events in the last hour\n";
  return formatTable(
    ["LAST SEEN", "TYPE", "REASON", "COUNT", "OBJECT", "MESSAGE"],
    entries.map(({ time, type, reason, message, count, object }) => [
      time.replace(/\.\d+/, ""),
      type,
      reason,
      String(count),
      [object.kind, object.namespace, object.name].filter((part) => part !== "").join("/"),
      oneLine(message),
    ]),
  );
}
