/** Whether the runs of Helm that a release has seen are those that were wanted, and no more. Pure. */

/** One of Helm's records. */
export interface Revision {
  readonly revision: number;
  readonly status: string;
  /** Of what reached Helm: what the same run would have again. */
  readonly digest: string;
}

/** What the chart's hook has left, once for each run that came so far. */
export interface Trace {
  readonly revision: number;
}

export interface ReleaseHistory {
  /** All that there ever were since it was installed. */
  readonly revisions: readonly Revision[];
  readonly traces: readonly Trace[];
  /** How many different contents were wanted since then. */
  readonly wanted: number;
  /** How often a run may have been cut off and begun again: the ends of the agent. */
  readonly interruptions: number;
}

/** What is wrong, one sentence each. */
export function auditRelease(history: ReleaseHistory): readonly string[] {
  const { traces, wanted, interruptions } = history;
  const revisions = history.revisions.toSorted((a, b) => a.revision - b.revision);
  const wrong: string[] = [];
  const latest = revisions.at(-1);
  if (latest?.status !== "deployed") {
    wrong.push(`the last revision is ${latest?.status ?? "not there"}, not deployed`);
  }
  if (revisions.some(({ revision }, at) => revision !== at + 1)) {
    wrong.push(`the revisions have gaps: ${revisions.map(({ revision }) => revision).join()}`);
  }
  const done = new Set<string>();
  /**
   * Whether a revision stands as deployed. Where none does, Helm calls the last one superseded once another has succeeded,
   * also one that had failed. That is so after a run that was ended when its hook was through: it may have superseded the
   * one before, and no longer have said that it is deployed itself.
   */
  let isAnyDeployed = true;
  const hooksOf = (revision: number) =>
    traces.filter((trace) => trace.revision === revision).length;
  for (const { revision, status, digest } of revisions) {
    const count = hooksOf(revision);
    if (status.startsWith("pending")) wrong.push(`revision ${revision} is still ${status}`);
    if (count > 1) wrong.push(`the hook of revision ${revision} ran ${count} times`);
    if (status === "failed" && count > 0) isAnyDeployed = false;
    const hadFailed =
      status === "superseded" && count === 0 && !isAnyDeployed && hooksOf(revision + 1) > 0;
    if ((status !== "deployed" && status !== "superseded") || hadFailed) continue;
    if (done.has(digest)) wrong.push(`revision ${revision} installed the same once more`);
    if (count === 0) wrong.push(`the hook of revision ${revision} did not run`);
    done.add(digest);
    isAnyDeployed = true;
  }
  const unknown = traces.filter(
    (trace) => !revisions.some(({ revision }) => revision === trace.revision),
  );
  if (unknown.length > 0) {
    wrong.push(
      `traces of revisions without a record: ${unknown.map((one) => one.revision).join()}`,
    );
  }
  const digests = new Set(revisions.map(({ digest }) => digest)).size;
  if (digests > wanted) wrong.push(`${digests} different contents were installed of ${wanted}`);
  const again = revisions.length - digests;
  if (again > interruptions) {
    wrong.push(`${again} runs were begun again, and the agent was ended ${interruptions} times`);
  }
  return wrong;
}
