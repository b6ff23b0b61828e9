/** One pass of the driver over a deployment: what it gets, and its result. */
import type { ReleaseInfo } from "@flotilla/proto";
import type { DeploymentContent, HealthCheck } from "@flotilla/shared/content";
import type { WatchClient } from "../../base/index.ts";
import type { OwnedObject } from "../../helm/index.ts";
import type { UnmetDependencies } from "../../inputs/index.ts";
import type { DriftInput, IgnoredConditions, Readiness } from "../../observe/index.ts";
import type { DeployUntil } from "./revision.ts";

/** A release in its desired state. */
export interface InSync {
  readonly kind: "in-sync";
  readonly release: ReleaseInfo;
  readonly objects: readonly OwnedObject[];
  /** Identifies the manifest that has them. */
  readonly manifestDigest: string;
  readonly chartDigest?: string;
  /** They decide whether its objects are ready. */
  readonly healthChecks?: readonly HealthCheck[];
  /** Watches its objects. */
  readonly client: WatchClient;
  readonly ignoredConditions: IgnoredConditions;
  readonly drift: DriftInput;
}

export type DeployResult =
  | InSync
  /** Installed, and not ready yet: reconciled again when its readiness changes, and at the end of its timeout. */
  | { readonly kind: "progressing"; readonly found: InSync; readonly untilMs: number }
  /** The same of the revision before, after a failure, which stays reported. */
  | {
      readonly kind: "rollingBack";
      readonly failure: { readonly message: string; readonly code: string };
      readonly untilMs: number;
    }
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  | Blocked;

/** No action, because of unmet dependencies. */
export interface Blocked {
  readonly kind: "blocked";
  readonly unmet: UnmetDependencies;
}

/** What may take long. */
export type LongAction = "install" | "upgrade" | "rollback" | "uninstall" | "test";

export interface DeployPass extends DeployUntil {
  /** Called before each of them. */
  readonly began: (action: LongAction) => void;
  /** Tracks the objects of the release from now on. Undefined until they were read. */
  readonly readinessOf: (found: InSync) => Readiness | undefined;
  /** The time of the retry after the last failure of this content, ms since 1970. */
  readonly retryAtMs: number | undefined;
  readonly unmetDependencies: (
    content: DeploymentContent,
  ) => Promise<UnmetDependencies | undefined>;
}
