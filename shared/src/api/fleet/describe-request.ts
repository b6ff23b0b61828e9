/** What a request of a user has come to, in words. */
import type { RequestStatus, requestResults } from "./bundle-deployment.ts";

/** A sentence without a full stop, about the release. A result of a newer agent is its code. Pure. */
export function describeRequest(request: RequestStatus): string {
  const { result, objects = 0, revision, code, message } = request;
  const drift = `the drift of ${objects === 1 ? "1 object" : `${objects} objects`}`;
  const why = [message ?? "", code === undefined || code === "" ? "" : `(${code})`]
    .filter((part) => part !== "")
    .join(" ");
  const because = why === "" ? "" : `: ${why}`;
  const sentences: Readonly<Record<(typeof requestResults)[number], string>> = {
    InSync: "nothing had to be done: the release is in sync",
    DriftLeft: `${drift} was left as it is, because it is only reported, or was corrected too often; \`flotilla reconcile --correct-drift\` corrects it once`,
    DriftCorrected: `${drift} was corrected`,
    CorrectionFailed: `${drift} could not be corrected${because}`,
    NotCompared:
      "the release is what was asked for; its objects are not compared, because drift is not detected",
    Installed: `the release was installed, revision ${revision ?? "unknown"}`,
    Upgraded: `the release was upgraded, revision ${revision ?? "unknown"}`,
    Blocked: `the release waits${because}`,
    Failed: `it failed${because}`,
  };
  return isKnown(sentences, result) ? sentences[result] : result;
}

function isKnown<K extends string>(known: Readonly<Record<K, string>>, key: string): key is K {
  return Object.hasOwn(known, key);
}
