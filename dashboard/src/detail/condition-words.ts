/** Conditions in words, and whether each is good news. Pure. */
import type { AppDetail } from "@flotilla/shared/dashboard";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { Tone } from "../state/index.ts";

type Condition = AppDetail["conditions"][number];
type Words = Readonly<Record<Condition["status"], readonly [Tone, string]>>;

const words: Readonly<Record<string, Words>> = {
  Ready: {
    True: ["good", "It is ready."],
    False: ["bad", "It is not ready."],
    Unknown: ["busy", "Whether it is ready is not known yet."],
  },
  Accepted: {
    True: ["good", "Its spec is valid, and its chart was found."],
    False: ["bad", "Its spec or chart is not accepted; what is deployed stays."],
    Unknown: ["busy", "Its spec is not checked yet."],
  },
  Polled: {
    True: ["good", "Its source was read when it was due."],
    False: ["warn", "Its source could not be read; what is deployed stays."],
    Unknown: ["busy", "Its source was not read yet."],
  },
  [fluxType.reconciling]: {
    True: ["busy", "Something is being deployed, or is tried again."],
    False: ["good", "Nothing is waiting to be deployed."],
    Unknown: ["busy", "Whether something is being deployed is not known yet."],
  },
  [fluxType.stalled]: {
    True: ["bad", "Retries cannot fix this; it needs a change."],
    False: ["good", "It is not stalled."],
    Unknown: ["busy", "Whether it is stalled is not known yet."],
  },
  RolledOut: {
    True: ["good", "Its staged rollout is completed."],
    False: ["bad", "Its staged rollout was halted or taken back."],
    Unknown: ["busy", "Its staged rollout goes on, or waits."],
  },
  [fluxType.released]: {
    True: ["good", "Helm's last action succeeded."],
    False: ["bad", "Helm's last action failed."],
    Unknown: ["busy", "Helm is working."],
  },
  [fluxType.testSuccess]: {
    True: ["good", "The tests of the chart passed."],
    False: ["bad", "Tests of the chart failed."],
    Unknown: ["busy", "The tests of the chart are running."],
  },
  [fluxType.remediated]: {
    True: ["warn", "A failed release was rolled back or uninstalled."],
    False: ["bad", "The rollback of a failed release failed, too."],
    Unknown: ["busy", "A failed release is being rolled back."],
  },
  [fluxType.drifted]: {
    True: ["warn", "Objects differ from the release."],
    False: ["good", "Objects match the release."],
    Unknown: ["busy", "Whether objects differ from the release is not known yet."],
  },
  Deployed: {
    True: ["good", "Its agent has applied what is desired."],
    False: ["bad", "Its agent could not apply what is desired."],
    Unknown: ["busy", "Its agent has not reported yet."],
  },
  Installed: {
    True: ["good", "It is installed in the cluster."],
    False: ["bad", "It could not be installed in the cluster."],
    Unknown: ["busy", "Whether it is installed is not known yet."],
  },
  Monitored: {
    True: ["good", "Its agent watches the installed objects."],
    False: ["bad", "Its agent cannot watch the installed objects."],
    Unknown: ["busy", "Whether its objects are watched is not known yet."],
  },
  Processed: {
    True: ["good", "The hub has prepared everything for this cluster."],
    False: ["bad", "The hub could not prepare everything for this cluster."],
    Unknown: ["busy", "The hub has not prepared this cluster yet."],
  },
  [fluxType.sourceVerified]: {
    True: ["good", "The signature of its revision is valid."],
    False: ["bad", "The signature of its revision is not valid."],
    Unknown: ["busy", "The signature of its revision is not checked yet."],
  },
  [fluxType.fetchFailed]: {
    True: ["bad", "It could not be read."],
    False: ["good", "It could be read."],
    Unknown: ["busy", "It was not read yet."],
  },
  [fluxType.artifactInStorage]: {
    True: ["good", "Agents can fetch its revision."],
    False: ["bad", "There is no revision that agents can fetch."],
    Unknown: ["busy", "Its revision was not read yet."],
  },
  [fluxType.buildFailed]: {
    True: ["bad", "The chart could not be built from its source."],
    False: ["good", "The chart could be built from its source."],
    Unknown: ["busy", "The chart was not built yet."],
  },
  [fluxType.storageOperationFailed]: {
    True: ["bad", "Its files could not be stored."],
    False: ["good", "Its files could be stored."],
    Unknown: ["busy", "Its files were not stored yet."],
  },
  [fluxType.includeUnavailable]: {
    True: ["bad", "A source that it includes is not available."],
    False: ["good", "The sources that it includes are available."],
    Unknown: ["busy", "The sources that it includes were not read yet."],
  },
};

/** For a condition that others have defined: its status alone. */
const unknownType: Words = {
  True: ["off", "True"],
  False: ["off", "False"],
  Unknown: ["busy", "Unknown"],
};

export interface ConditionWords {
  readonly tone: Tone;
  readonly text: string;
}

export function wordsOf({ type, status }: Pick<Condition, "type" | "status">): ConditionWords {
  const [tone, text] = (words[type] ?? unknownType)[status];
  return { tone, text };
}
