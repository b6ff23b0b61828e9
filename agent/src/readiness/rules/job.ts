/** When a Job is well: it runs, or has done its work. As in kstatus, who depends on its end waits for it otherwise. Pure. */
import {
  conditionOf,
  current,
  type Judged,
  type ObjectStatus,
  textOf,
  waiting,
} from "../judged.ts";

export function jobStatus(object: Judged): ObjectStatus {
  const failed = conditionOf(object, "Failed");
  if (failed?.status === "True")
    return { kind: "failed", message: failed.message ?? failed.reason ?? "has failed" };
  if (conditionOf(object, "Complete")?.status === "True" || object.spec["suspend"] === true)
    return current;
  return textOf(object.status, "startTime") === "" ? waiting("has not been started") : current;
}
