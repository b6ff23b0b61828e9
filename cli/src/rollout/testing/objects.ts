/** BundleRollouts and Gates for tests. */
import type { BundleRollout, Gate, StageStatus } from "@flotilla/shared/api/rollout";

interface RolloutParts {
  readonly name?: string;
  readonly spec?: Partial<BundleRollout["spec"]>;
  readonly status?: Partial<NonNullable<BundleRollout["status"]>>;
}

export function aRollout({ name = "web-7", spec = {}, status = {} }: RolloutParts): BundleRollout {
  return {
    metadata: { namespace: "fleet-default", name, uid: `uid-of-${name}` },
    spec: {
      bundle: { name: "web", uid: "b" },
      app: { kind: "HelmOp", name: "web" },
      number: 7,
      revision: "sha256:2",
      version: "1.4.2",
      targets: [{ name: "target000", deploymentID: "sha256:new" }],
      signature: "00",
      ...spec,
    },
    status: { phase: "Progressing", ...status },
  };
}

export function aStage(parts: Partial<StageStatus>): StageStatus {
  return {
    name: "all",
    phase: "Pending",
    total: 0,
    done: 0,
    inFlight: 0,
    failed: 0,
    pending: 0,
    offline: 0,
    paused: 0,
    skipped: 0,
    offSchedule: 0,
    brokenBefore: 0,
    ...parts,
  };
}

interface GateParts {
  readonly spec?: Partial<Gate["spec"]>;
  readonly status?: Gate["status"];
}

export function aGate({ spec = {}, status }: GateParts): Gate {
  return {
    metadata: { namespace: "fleet-default", name: "web-7-prod-change-board", uid: "g" },
    spec: {
      type: "Approval",
      app: { kind: "HelmOp", name: "web" },
      rollout: { name: "web-7", uid: "uid-of-web-7" },
      stage: "prod",
      gate: "change-board",
      when: "Before",
      revision: "sha256:2",
      version: "1.4.2",
      digest: "sha256:d",
      clusters: { count: 412, first: ["fleet-default/ams", "fleet-default/ber"] },
      expiresAt: "2026-12-04T10:00:00Z",
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}
