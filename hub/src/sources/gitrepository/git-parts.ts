/** What the hub reads Git repositories with: the client, and tokens of GitHub Apps. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "@flotilla/shared/log";
import type { ProcessWatch } from "@flotilla/shared/process";
import { createGitClient, type GitClient } from "@flotilla/shared/source/git";
import {
  createConnectionPools,
  createExchanger,
  type EgressPolicy,
  type ProxySettings,
} from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import type { ProjectSecret } from "../../rules/index.ts";
import { createTokenMinter, type MintToken } from "./github-app.ts";
import { limitGit } from "./limited-git.ts";
import { createProjectSecret } from "./token-secret.ts";

export interface GitParts {
  readonly git: Pick<GitClient, "resolve" | "readFiles" | "verify">;
  readonly mint: MintToken;
  /** For the Secrets that are sent to agents. */
  readonly project: ProjectSecret;
  close(): Promise<void>;
}

const MiB = 1024 * 1024;
const limits = {
  memoryBytes: 256 * MiB,
  cpuMs: 60_000,
  fullPriorityCpuMs: 1_000,
  withChildren: true,
};

export function createGitParts(options: {
  readonly userAgent: string;
  readonly egress: EgressPolicy;
  readonly proxy?: ProxySettings | undefined;
  /** The watch of all child processes of the hub. */
  readonly watch: ProcessWatch;
  readonly clock: Clock;
  readonly log: Log;
}): GitParts {
  const { userAgent, egress, proxy, watch, clock, log } = options;
  const pools = createConnectionPools({
    connectTimeoutMs: 10_000,
    idleTimeoutMs: 30_000,
    connectionsPerHost: 4,
    maxPools: 8,
    egress,
    ...(proxy !== undefined && { proxy }),
  });
  const exchange = createExchanger({ pools, userAgent });
  const mint = createTokenMinter({ exchange, clock });
  return {
    git: limitGit(
      createGitClient({
        dir: join(tmpdir(), "flotilla-hub-git"),
        userAgent,
        egress,
        proxy,
        processes: { watch, limits },
      }),
    ),
    mint,
    project: createProjectSecret({ mint, clock, log }),
    close: () => pools.close(),
  };
}
