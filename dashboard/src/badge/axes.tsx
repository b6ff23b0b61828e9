/** The two questions about a release, apart from each other: is it what is desired, and does it work? */
import type { ClusterRelease } from "@flotilla/shared/dashboard";
import type { Tone } from "../state/index.ts";
import { StateIcon } from "./state-badge.tsx";

const syncLooks: Readonly<Record<ClusterRelease["sync"], readonly [Tone, string]>> = {
  InSync: ["good", "In sync"],
  Waiting: ["busy", "Waiting"],
  Modified: ["warn", "Modified"],
  Failed: ["bad", "Failed"],
};
const healthLooks: Readonly<Record<ClusterRelease["health"], readonly [Tone, string]>> = {
  Healthy: ["good", "Healthy"],
  Progressing: ["busy", "Progressing"],
  Degraded: ["bad", "Degraded"],
  Unknown: ["off", "Unknown"],
};

export function SyncText({ sync }: Pick<ClusterRelease, "sync">) {
  return <Look look={syncLooks[sync]} />;
}

export function HealthText({ health }: Pick<ClusterRelease, "health">) {
  return <Look look={healthLooks[health]} />;
}

function Look({ look: [tone, word] }: { readonly look: readonly [Tone, string] }) {
  return (
    <span className={`state-badge tone-${tone}`}>
      <StateIcon tone={tone} />
      {word}
    </span>
  );
}
