/**
 * When the authorities end that this replica trusts, so that an alert comes before agents are rejected. Computed at each scrape: a
 * rotation shows at once, and a role that no authority has is absent.
 */
import { Gauge, type Registry } from "prom-client";
import type { LiveAuthority } from "./live-authority.ts";
import { validityOf } from "./plan-rotation.ts";

const name = "flotilla_hub_authority_end_seconds";

/** Returns the function that removes the metric. */
export function registerAuthorityMetrics(
  registry: Registry,
  authority: Pick<LiveAuthority, "record">,
): () => void {
  new Gauge({
    name,
    help: "Expiry of each authority that this replica trusts, in seconds since 1970: the one that signs, and during a rotation the next or the previous one.",
    labelNames: ["role"],
    registers: [registry],
    collect() {
      const { signing, phase } = authority.record;
      const roles = {
        signing: signing.certificatePem,
        ...(phase.kind === "introducing" && { next: phase.next.certificatePem }),
        ...(phase.kind === "switched" && { previous: phase.previousPem }),
      };
      this.reset();
      for (const [role, pem] of Object.entries(roles))
        this.set({ role }, validityOf(pem).notAfter / 1_000);
    },
  });
  return () => registry.removeSingleMetric(name);
}
