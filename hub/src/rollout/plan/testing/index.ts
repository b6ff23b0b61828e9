/** Results of plans, and agents that answer them. */
import { createHash } from "node:crypto";
import type { PlanResult } from "@flotilla/shared/plan";
import type { AgentAnswer, PlanOutcome, PlanTarget } from "../plan-outcome.ts";

export function aDigest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** `diff`: equal texts are equal diffs; "": nothing changes. */
export function aResult(diff: string, fields: Partial<PlanResult> = {}): PlanResult {
  return {
    result: diff === "" ? "none" : "changes",
    counts: { create: 0, update: diff === "" ? 0 : 1, replace: 0, delete: 0 },
    digest: aDigest(diff),
    shape: aDigest("shape"),
    applied: aDigest("applied"),
    revision: 3,
    remarks: [],
    hooks: 0,
    failures: 0,
    ...fields,
  };
}

export function known(diff: string, fields: Partial<PlanResult> = {}): PlanOutcome {
  return { kind: "known", result: aResult(diff, fields) };
}

export function answered(diff: string, text = ""): AgentAnswer {
  return { kind: "answered", answer: { result: aResult(diff), text } };
}

export function aTarget(cluster: string): PlanTarget {
  return {
    cluster,
    deployment: { name: "web", uid: `uid-${cluster}` },
    deploymentId: aDigest("new"),
    hasContent: false,
    objects: [],
  };
}
