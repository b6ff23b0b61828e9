/** What the Schedules of a Cluster say, in its status. Pure. */
import type { ClusterStatus } from "@flotilla/shared/api";
import { listNames } from "@flotilla/shared/text";
import type { Coverage } from "../../rules/index.ts";

/** The reason of Processed=True where a Schedule of the Cluster is invalid. */
export const scheduleInvalid = "ScheduleInvalid";

type ScheduledFields = Pick<ClusterStatus, "scheduled" | "activeSchedule">;

/** No field for a Cluster without a Schedule: it costs no write. */
export function scheduledFields({ isScheduled, isActive }: Coverage): ScheduledFields {
  return isScheduled ? { scheduled: true, activeSchedule: isActive } : {};
}

/** Whether the status has anything else. Fleet writes `false` where we write nothing. */
export function isOtherCoverage(
  status: ScheduledFields | undefined,
  { isScheduled, isActive }: Pick<Coverage, "isScheduled" | "isActive">,
): boolean {
  return (
    (status?.scheduled === true) !== isScheduled || (status?.activeSchedule === true) !== isActive
  );
}

/** "" where all are valid. */
export function scheduleRemark({ invalid, isActive }: Coverage): string {
  const [first] = invalid;
  if (first === undefined) return "";
  const names = listNames(invalid.map(({ name }) => name));
  const [subject, pronoun] =
    invalid.length === 1 ? [`Schedule ${names}`, "it is"] : [`Schedules ${names}`, "they are"];
  const effect = isActive
    ? "another Schedule is active, so the cluster may be changed now"
    : "the cluster is not changed, except while another Schedule is active";
  return `${subject} cannot be used, and until ${pronoun} corrected ${effect}: ${first.problem}`;
}
