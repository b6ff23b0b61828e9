/** When the authorities that this replica trusts end. */
import type { Registry } from "prom-client";
import { registerSeries } from "../metrics/series-metric.ts";
import type { LiveAuthority } from "./live-authority.ts";
import { validityOf } from "./plan-rotation.ts";

/** Adds them; the result takes them away again. */
export function registerAuthorityMetrics(
  registry: Registry,
  authority: Pick<LiveAuthority, "record">,
): () => void {
  return registerSeries(registry, [
    {
      name: "flotilla_hub_authority_end_seconds",
      help: "When each authority that this replica trusts ends, in seconds since 1970: the one that signs, and during a rotation the next or the previous one.",
      labelNames: ["role"],
      series: () => {
        const { signing, phase } = authority.record;
        const roles = {
          signing: signing.certificatePem,
          ...(phase.kind === "introducing" && { next: phase.next.certificatePem }),
          ...(phase.kind === "switched" && { previous: phase.previousPem }),
        };
        return Object.entries(roles).map(([role, pem]) => ({
          labels: { role },
          value: validityOf(pem).notAfter / 1_000,
        }));
      },
    },
  ]);
}
