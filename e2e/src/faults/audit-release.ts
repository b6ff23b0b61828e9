/** Whether each desired change of a release was one run of Helm. Pure. */

/** One of Helm's records. */
export interface Revision {
  readonly revision: number;
  readonly status: string;
  /** The digest of the input of Helm: a repeated run has the same. */
  readonly digest: string;
}

/** A ConfigMap of the chart's hook, one for each run that reached it. */
export interface Trace {
  readonly revision: number;
}

export interface ObservedRelease {
  /** All since it was installed. */
  readonly revisions: readonly Revision[];
  readonly traces: readonly Trace[];
  /** How many different contents were desired since then. */
  readonly desired: number;
  /** How often a run may have been interrupted and repeated: the ends of the agent. */
  readonly interruptions: number;
}

/** The errors, one sentence each. */
export function auditRelease(history: ObservedRelease): readonly string[] {
  const { traces, desired, interruptions } = history;
  const revisions = history.revisions.toSorted((a, b) => a.revision - b.revision);
  const wrong: string[] = [];
  const latest = revisions.at(-1);
  if (latest?.status !== "deployed") {
    wrong.push(`the last revision is ${latest?.status ?? "missing"}, not deployed`);
  }
  if (revisions.some(({ revision }, at) => revision !== at + 1)) {
    wrong.push(`the revisions have gaps: ${revisions.map(({ revision }) => revision).join()}`);
  }
  const done = new Set<string>();
  /**
   * Whether a revision is stored as deployed. When none is, Helm marks the last one superseded once another succeeds, also
   * one that had failed. That happens after a run that was ended after its hook: it may have marked the one before as
   * superseded, and not yet itself as deployed.
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
    if (done.has(digest)) wrong.push(`revision ${revision} repeated an installed content`);
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
  if (digests > desired) wrong.push(`${digests} different contents were installed of ${desired}`);
  const again = revisions.length - digests;
  if (again > interruptions) {
    wrong.push(`${again} runs were repeated, and the agent was ended ${interruptions} times`);
  }
  return wrong;
}
